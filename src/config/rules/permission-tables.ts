/** The format of `[permissions]` in a configuration file: rules that allow, ask about or deny tool calls. */
import { parse } from 'smol-toml'
import { reasonOf, fail } from '../../errors/parley-error.ts'
import { z } from 'zod'
import { perhapsMeant } from '../nearest.ts'
import { type SettingMistake, faultOf, isTable, tableWith } from '../tables.ts'
import { createHash } from 'node:crypto'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { replaceFile } from '../../state-files/atomic-file.ts'

export const EFFECTS = ['allow', 'ask', 'deny'] as const
export const SUBJECT_KEYS = ['tool', 'server', 'path', 'command', 'host'] as const

export type RuleEffect = (typeof EFFECTS)[number]

/** The calls to which a rule applies, as the session knows it. `definition` is never in a user's file. */
export type RuleSubject = { readonly [Key in (typeof SUBJECT_KEYS)[number] | 'definition']?: string }

export interface RuleEntry {
  readonly effect: RuleEffect
  readonly subject: RuleSubject
}

export interface RuleEntries {
  readonly rules: readonly RuleEntry[]
  readonly faults: readonly SettingMistake[]
}

const MAX_LENGTH = 1_000

/**
 * Every path of a search is compared with each rule. A project may be hostile, so its number of rules and of `*` in each
 * is limited.
 */
const OF_PROJECT = { rules: 100, wildcards: 8 }

/** The rules of the text of a settings file. Throws what the TOML parser throws, in one line. */
export function readPermissionsOf(text: string, source: 'user' | 'project'): RuleEntries {
  try {
    return readPermissions(parse(text)['permissions'] ?? {}, source)
  } catch (error) {
    throw new Error(reasonOf(error), { cause: error })
  }
}

/** Reads each rule on its own, so that a mistake in one does not affect the others. */
export function readPermissions(permissions: unknown, source: 'user' | 'project'): RuleEntries {
  if (!isTable(permissions)) return { rules: [], faults: [wrong('permissions', 'it has lists: allow, ask, deny')] }
  const read = Object.entries(permissions).flatMap(([effect, list]) => listed(effect, list))
  const rules = read.flatMap((one) => ('rule' in one ? [one.rule] : []))
  const faults = read.flatMap((one) => ('fault' in one ? [one.fault] : []))
  if (source === 'user') return { rules, faults }
  const light = rules.filter(({ subject }) => wildcardsIn(subject) <= OF_PROJECT.wildcards).slice(0, OF_PROJECT.rules)
  const limits = `a project has at most ${OF_PROJECT.rules} rules, and a rule at most ${OF_PROJECT.wildcards} *`
  return { rules: light, faults: light.length < rules.length ? [...faults, wrong('permissions', limits)] : faults }
}

function wildcardsIn(subject: RuleSubject): number {
  return Math.max(...Object.values(subject).map((text) => text.split('*').length - 1))
}

type ReadRule = { readonly rule: RuleEntry } | { readonly fault: SettingMistake }

function listed(effect: string, list: unknown): readonly ReadRule[] {
  const key = `permissions.${effect}`
  if (!isEffect(effect))
    return [{ fault: wrong(key, `there is only ${EFFECTS.join(', ')}${perhapsMeant(effect, EFFECTS)}`) }]
  if (!Array.isArray(list)) return [{ fault: wrong(key, 'it must be a list of rules: [{ tool = "…" }]') }]
  return list.map((subject: unknown, index): ReadRule => {
    const fault = faultIn(`${key}[${index}]`, subject)
    return fault === undefined ? { rule: { effect, subject: subject as RuleSubject } } : { fault }
  })
}

const ruleText = z
  .string('it must be a text')
  .refine((text) => text.trim() === text && text !== '', 'it must be a text that neither begins nor ends with a space')
  .refine(
    (text) => text.length <= MAX_LENGTH && !/\p{Cc}/u.test(text),
    `it must be one line of at most ${MAX_LENGTH} letters`,
  )

const subject = tableWith(
  {
    tool: ruleText.optional(),
    server: ruleText.optional(),
    path: ruleText
      .refine((text) => !/[[\]{}\\]|^!/u.test(text), 'a path has *, ** and ? as patterns, and no others')
      .refine((text) => !text.split('/').includes('..'), 'it must be inside the root set, without ..')
      .optional(),
    command: ruleText.optional(),
    host: ruleText
      .regex(/^[A-Za-z0-9.*:[\]-]+$/u, 'it must be the name of a host, without https:// and port')
      .optional(),
  },
  `a rule is a table with ${SUBJECT_KEYS.join(', ')}`,
).refine((named) => Object.keys(named).length > 0, `a rule names at least one of ${SUBJECT_KEYS.join(', ')}`)

/** Why a value cannot be the subject of a rule. */
function faultIn(key: string, value: unknown): SettingMistake | undefined {
  return faultOf(key, value, subject)
}

export function isEffect(value: unknown): value is RuleEffect {
  return EFFECTS.some((effect) => effect === value)
}

function wrong(key: string, reason: string): SettingMistake {
  return { key, reason }
}

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

/** A short digest that names a rule to people. */
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
