/** What `[permissions]` of a configuration file may say: rules that allow, ask about or deny calls of tools. */
import { parse } from 'smol-toml'
import { reasonOf } from '../../errors/parley-error.ts'
import { perhapsMeant } from '../nearest.ts'

export const EFFECTS = ['allow', 'ask', 'deny'] as const
export const SUBJECT_KEYS = ['tool', 'server', 'path', 'command', 'host'] as const

export type RuleEffect = (typeof EFFECTS)[number]

/** What a rule is said of, as the session knows it. `definition` is in no file of a person. */
export type RuleSubject = { readonly [Key in (typeof SUBJECT_KEYS)[number] | 'definition']?: string }

export interface RuleEntry {
  readonly effect: RuleEffect
  readonly subject: RuleSubject
}

/** What is wrong, as CONFIG_INVALID says it. */
export interface RuleFault {
  readonly key: string
  readonly value: string
  readonly reason: string
}

export interface RuleEntries {
  readonly rules: readonly RuleEntry[]
  readonly faults: readonly RuleFault[]
}

type Table = Readonly<Record<string, unknown>>

const LONGEST = 1_000

/** Every path of a search is compared with each rule: a project, which anyone may have written, has so many, each with so many `*`. */
const OF_PROJECT = { rules: 100, wildcards: 8 }

/** The rules of the text of a settings file. Throws what the TOML parser throws, in one line. */
export function readPermissionsOf(text: string, source: 'user' | 'project'): RuleEntries {
  try {
    return readPermissions(parse(text)['permissions'] ?? {}, source)
  } catch (error) {
    throw new Error(reasonOf(error), { cause: error })
  }
}

/** Every rule on its own: what is wrong with one says nothing of the others. */
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

type Read = { readonly rule: RuleEntry } | { readonly fault: RuleFault }

function listed(effect: string, list: unknown): readonly Read[] {
  const key = `permissions.${effect}`
  if (!isEffect(effect))
    return [{ fault: wrong(key, `there is only ${EFFECTS.join(', ')}${perhapsMeant(effect, EFFECTS)}`) }]
  if (!Array.isArray(list)) return [{ fault: wrong(key, 'it must be a list of rules: [{ tool = "…" }]') }]
  return list.map((subject: unknown, index): Read => {
    const fault = faultIn(`${key}[${index}]`, subject)
    return fault === undefined ? { rule: { effect, subject: subject as RuleSubject } } : { fault }
  })
}

/** What keeps it from being what a rule is said of. */
export function faultIn(key: string, subject: unknown): RuleFault | undefined {
  const known = SUBJECT_KEYS.join(', ')
  if (!isTable(subject)) return wrong(key, `a rule is a table with ${known}`)
  const named = Object.entries(subject)
  if (named.length === 0) return wrong(key, `a rule names at least one of ${known}`)
  for (const [name, value] of named) {
    if (!SUBJECT_KEYS.some((one) => one === name))
      return wrong(`${key}.${name}`, `there is only ${known}${perhapsMeant(name, SUBJECT_KEYS)}`)
    const reason = typeof value === 'string' ? textFault(name, value) : 'it must be a text'
    if (reason !== undefined) return wrong(`${key}.${name}`, reason)
  }
  return undefined
}

function textFault(name: string, value: string): string | undefined {
  if (value.trim() !== value || value === '') return 'it must be a text that neither begins nor ends with a space'
  if (value.length > LONGEST || /\p{Cc}/u.test(value)) return `it must be one line of at most ${LONGEST} letters`
  if (name === 'host' && !/^[A-Za-z0-9.*:[\]-]+$/u.test(value))
    return 'it must be the name of a host, without https:// and port'
  if (name !== 'path') return undefined
  if (/[[\]{}\\]|^!/u.test(value)) return 'a path has *, ** and ? as patterns, and no others'
  return value.split('/').includes('..') ? 'it must be inside the root set, without ..' : undefined
}

/** The value stays out of the sentence: nobody knows what was written there by mistake. */
function wrong(key: string, reason: string): RuleFault {
  return { key, value: 'what it is', reason }
}

export function isEffect(value: unknown): value is RuleEffect {
  return EFFECTS.some((effect) => effect === value)
}

function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
}
