/** Rules that the test decides; what is remembered is kept with them. */
import type { Rule, RuleSet, RuleSubject, Rules } from '../../src/ports/rules.ts'

export class TestRules implements Rules {
  rules: readonly Rule[] = []
  broken: string | undefined
  /** What remembering fails with, if it does. */
  trouble: Error | undefined
  /** What remembering waits for. */
  slow: Promise<void> = Promise.resolve()
  readonly remembered: { readonly cwd: string; readonly subject: RuleSubject }[] = []

  async rulesFor(roots: readonly string[]): Promise<RuleSet> {
    const broken = this.broken === undefined ? {} : { broken: this.broken }
    return { rules: this.rules, roots, own: ['/state'], ...broken }
  }

  async remember(cwd: string, { effect, subject }: Pick<Rule, 'effect' | 'subject'>): Promise<void> {
    await this.slow
    if (this.trouble !== undefined) throw this.trouble
    this.remembered.push({ cwd, subject })
    this.rules = [...this.rules, { effect, subject, origin: 'of an answer' }]
  }
}
