/** The rules that answers and commands made: one small file for each in the state directory, so that nobody overwrites another's. */
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type RuleEntry, type RuleSubject, faultIn, isEffect } from './rules.ts'
import { fail } from '../../errors/parley-error.ts'
import { replaceFile } from '../../state-files/atomic-file.ts'
import { textOfFile } from '../files/read-text-file.ts'

export interface StoredRule extends RuleEntry {
  readonly id: string
  /** The real path of the directory whose sessions have it; null for all. */
  readonly project: string | null
}

export function rulesDirectory(home: string): string {
  return join(home, 'rules')
}

/** The same rule twice is one. */
export function storeRule(home: string, rule: Omit<StoredRule, 'id'>): StoredRule {
  const { effect, subject, project } = rule
  const { definition: _kept, ...written } = subject
  const fault = faultIn('rule', written)
  if (fault !== undefined) return fail('CONFIG_INVALID', fault)
  const id = idOf([effect, inOrder(subject), project])
  const directory = rulesDirectory(home)
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  replaceFile(join(directory, `${id}.json`), `${JSON.stringify({ effect, subject, project })}\n`)
  return { id, effect, subject, project }
}

/** False when there is none of this id. */
export function removeRule(home: string, id: string): boolean {
  if (!namesIn(home).includes(`${id}.json`)) return false
  rmSync(join(rulesDirectory(home), `${id}.json`), { force: true })
  return true
}

/** The order in which it was written changes nothing. */
export function inOrder({
  tool,
  server,
  path,
  command,
  host,
  definition,
}: RuleSubject): readonly (string | undefined)[] {
  return [tool, server, path, command, host, definition]
}

/** Enough to name one by. */
export function idOf(what: unknown): string {
  return createHash('sha256').update(JSON.stringify(what)).digest('hex').slice(0, 10)
}

export interface Stored {
  readonly rules: readonly StoredRule[]
  /** The files that are no rules. */
  readonly wrong: readonly string[]
}

/** Reads each file once: what is in one never changes. */
export class RuleStore {
  readonly #home: string
  #known = new Map<string, StoredRule>()

  constructor(home: string) {
    this.#home = home
  }

  async read(): Promise<Stored> {
    const names = namesIn(this.#home).filter((name) => /^[0-9a-f]+\.json$/u.test(name))
    const known = new Map<string, StoredRule>()
    const wrong: string[] = []
    for (const name of names) {
      const rule = this.#known.get(name) ?? (await readRule(this.#home, name))
      if (rule === undefined) wrong.push(join(rulesDirectory(this.#home), name))
      else known.set(name, rule)
    }
    this.#known = known
    return { rules: [...known.values()], wrong }
  }
}

/** Throws where there is a directory that cannot be read: it may hold a rule that denies. */
function namesIn(home: string): readonly string[] {
  try {
    return readdirSync(rulesDirectory(home))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

async function readRule(home: string, name: string): Promise<StoredRule | undefined> {
  try {
    const text = await textOfFile(join(rulesDirectory(home), name))
    const { effect, subject, project } = JSON.parse(text ?? '') as Readonly<Record<string, unknown>>
    const { definition, ...written } = subject as RuleSubject
    const isSound =
      isEffect(effect) && faultIn('rule', written) === undefined && ['string', 'undefined'].includes(typeof definition)
    if (!isSound || (project !== null && typeof project !== 'string')) return undefined
    return { id: name.replace(/\.json$/u, ''), effect, subject: subject as RuleSubject, project }
  } catch {
    // Taken away meanwhile, or no rule: whoever reads it says so.
    return undefined
  }
}
