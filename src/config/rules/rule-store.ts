/** Rules that answers and `parley rules add` made: one small file each in the state directory, so that no writer overwrites another's. */
import { createHash } from 'node:crypto'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type RuleEntry, type RuleSubject, faultIn, isEffect } from './rules.ts'
import { fail } from '../../errors/parley-error.ts'
import { replaceFile } from '../../state-files/atomic-file.ts'

export interface StoredRule extends RuleEntry {
  readonly id: string
  /** The real path of the directory whose sessions have it; null for all. */
  readonly project: string | null
}

export function rulesDirectory(home: string): string {
  return join(home, 'rules')
}

/** Storing the same rule twice makes one. Throws CONFIG_INVALID. */
export function storeRule(home: string, rule: Omit<StoredRule, 'id'>): StoredRule {
  const { effect, subject, project } = rule
  const { definition: _kept, ...written } = subject
  const fault = faultIn('rule', written)
  if (fault !== undefined) return fail('CONFIG_INVALID', fault)
  const id = ruleId([effect, subjectInOrder(subject), project])
  const directory = rulesDirectory(home)
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  replaceFile(join(directory, `${id}.json`), `${JSON.stringify({ effect, subject, project })}\n`)
  return { id, effect, subject, project }
}

/** False when there is no rule of this id. */
export function removeRule(home: string, id: string): boolean {
  try {
    rmSync(join(rulesDirectory(home), `${id}.json`))
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}

/** For a digest that does not depend on the order of the keys. */
export function subjectInOrder({
  tool,
  server,
  path,
  command,
  host,
  definition,
}: RuleSubject): readonly (string | undefined)[] {
  return [tool, server, path, command, host, definition]
}

/** A short digest that names a rule for users. */
export function ruleId(what: unknown): string {
  return createHash('sha256').update(JSON.stringify(what)).digest('hex').slice(0, 10)
}

/** The rule in a file of `rulesDirectory`; undefined for a text that is not a rule. */
export function parseStoredRule(id: string, text: string): StoredRule | undefined {
  try {
    const { effect, subject, project } = JSON.parse(text) as Readonly<Record<string, unknown>>
    const { definition, ...written } = subject as RuleSubject
    const isSound =
      isEffect(effect) && faultIn('rule', written) === undefined && ['string', 'undefined'].includes(typeof definition)
    if (!isSound || (project !== null && typeof project !== 'string')) return undefined
    return { id, effect, subject: subject as RuleSubject, project }
  } catch {
    return undefined
  }
}
