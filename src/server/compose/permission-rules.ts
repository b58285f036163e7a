/** The permission rules of every source, read anew for each tool call: the user's file, the project's file, and stored rules. */
import { readdirSync, realpathSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { isWithin } from '../../path-rules/path-rules.ts'
import { isAllowed } from '../../config/mcp/trust-store.ts'
import { PROJECT_FILE, userFile } from '../../config/places.ts'
import {
  type StoredRule,
  parseStoredRule,
  ruleId,
  rulesDirectory,
  storeRule,
  subjectInOrder,
  type RuleEntry,
  type RuleEntries,
  readPermissionsOf,
} from '../../config/rules/permission-tables.ts'
import { reasonOf } from '../../errors/parley-error.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Rule, RuleSet, Rules } from '../../ports/rules.ts'
import { ruleWords } from '../../session/permission/policy.ts'
import { MAX_PROJECT_BYTES, readText } from '../../state-files/bounded-read.ts'

export interface FoundRule extends RuleEntry {
  readonly from: 'user' | 'project' | 'stored'
  /** Of a stored rule; rules of files are changed in their file. */
  readonly id?: string
  readonly file?: string
  /** Of a stored rule: the directory whose sessions follow it, null for all. */
  readonly project?: string | null
  /** A project's permissions wait until the user trusts them; its rules that ask or deny apply at once. */
  readonly standing: 'active' | 'waiting'
}

export interface FoundRules {
  readonly rules: readonly FoundRule[]
  /** One sentence for each source that cannot be read completely. */
  readonly broken: readonly string[]
  /** The directory with its links resolved. */
  readonly cwd: string
}

interface RulesLocation {
  readonly home: string
  readonly environment: Readonly<Record<string, string | undefined>>
}

/** An editor that saves a file, by rewriting or by renaming it, is done after so many milliseconds. */
const SAVE_MS = 200

/** A file is read for every call, and parsed only when its text has changed. A stored rule never changes, so it is read once. */
export class PermissionRules implements Rules {
  readonly #home: string
  readonly #storedRules: string
  readonly #userFile: string
  /** The last text of each file with its rules. */
  readonly #parsed = new Map<string, { readonly text: string; readonly source: Source }>()
  /** What each file denied and asked about when it could last be read as a whole. */
  readonly #held = new Map<string, readonly RuleEntry[]>()
  #stored = new Map<string, StoredRule>()
  readonly #report: (error: unknown) => void
  /** A command that reads once needs none. */
  readonly #clock: Pick<Clock, 'sleep'> | undefined
  /** The sentence about broken sources that was reported last. */
  #reported: string | undefined

  constructor(
    { home, environment }: RulesLocation,
    report: (error: unknown) => void = () => undefined,
    clock?: Pick<Clock, 'sleep'>,
  ) {
    this.#home = home
    this.#storedRules = rulesDirectory(home)
    this.#userFile = userFile(environment)
    this.#report = report
    this.#clock = clock
  }

  async rulesFor(roots: readonly string[]): Promise<RuleSet> {
    const [{ rules, broken }, real, own] = await Promise.all([
      this.find(roots[0] ?? '/'),
      Promise.all(roots.map(resolved)),
      Promise.all([this.#home, dirname(this.#userFile)].map(resolved)),
    ])
    const active = rules.filter(({ standing }) => standing === 'active').map(ruleOf)
    const linked = await Promise.all(active.map((rule) => throughLinks(rule, real)))
    const sentence = brokenSentence(broken)
    if (sentence !== undefined && sentence !== this.#reported) this.#report(new Error(sentence))
    this.#reported = sentence
    return {
      rules: [...active, ...linked.flat()],
      roots: real,
      own,
      ...(sentence !== undefined && { broken: sentence }),
    }
  }

  async remember(cwd: string, { effect, subject }: Pick<Rule, 'effect' | 'subject'>): Promise<void> {
    storeRule(this.#home, { effect, subject, project: await resolved(cwd) })
  }

  /** Also the rules that wait for trust, each with its source, as `parley rules ls` shows them. Never throws. */
  async find(directory: string): Promise<FoundRules> {
    const cwd = await resolved(directory)
    const projectFile = join(directory, PROJECT_FILE)
    const [user, project] = await Promise.all([this.#file(this.#userFile, 'user'), this.#file(projectFile, 'project')])
    const stored = await this.#storedFor(cwd)
    const allows = project.rules.some(({ effect }) => effect === 'allow')
    const isTrusted = allows && isAllowed(this.#home, trustDigest(projectFile, project.rules))
    return {
      cwd,
      rules: [
        ...stored.rules.map((rule): FoundRule => ({ ...rule, from: 'stored', standing: 'active' })),
        ...user.rules.map((rule): FoundRule => ({ ...rule, from: 'user', file: this.#userFile, standing: 'active' })),
        ...project.rules.map((rule): FoundRule => ({
          ...rule,
          from: 'project',
          file: projectFile,
          standing: rule.effect === 'allow' && !isTrusted ? 'waiting' : 'active',
        })),
      ],
      broken: [...user.broken, ...project.broken, ...stored.broken],
    }
  }

  /**
   * An editor may truncate a file, or rename it away, and then write it. While it is empty or cannot be read as a whole, what
   * it denied and asked about before still holds. Such a rule counts as removed when it is missing a second time, a moment later.
   */
  async #file(path: string, from: 'user' | 'project'): Promise<Source> {
    const source = await this.#settled(path, from)
    if (source.broken.length > 0) return { ...source, rules: [...source.rules, ...this.#heldOf(path)] }
    const restricting = source.rules.filter(({ effect }) => effect !== 'allow')
    if (restricting.length > 0) this.#held.set(path, restricting)
    else this.#held.delete(path)
    return source
  }

  async #settled(path: string, from: 'user' | 'project'): Promise<Source> {
    const source = await this.#fileNow(path, from)
    const there = new Set(source.rules.map(ruleText))
    if (source.broken.length > 0 || this.#heldOf(path).every((rule) => there.has(ruleText(rule)))) return source
    await this.#clock?.sleep(SAVE_MS)
    return this.#fileNow(path, from)
  }

  #heldOf(path: string): readonly RuleEntry[] {
    return this.#held.get(path) ?? []
  }

  async #fileNow(path: string, from: 'user' | 'project'): Promise<Source> {
    try {
      const text = await readText(path, from === 'project' ? MAX_PROJECT_BYTES : undefined)
      if (text === undefined) return { rules: [], broken: [] }
      if (text.trim() === '' && this.#heldOf(path).length > 0)
        return {
          rules: [],
          broken: [`${path} is empty now; what it denied holds until it has text, such as a comment, or is removed`],
        }
      const known = this.#parsed.get(path)
      const source = known?.text === text ? known.source : sourceOf(path, readPermissionsOf(text, from))
      this.#parsed.set(path, { text, source })
      return source
    } catch (error) {
      return { rules: [], broken: [`${path} cannot be read: ${reasonOf(error)}`] }
    }
  }

  async #storedFor(cwd: string): Promise<Source & { readonly rules: readonly StoredRule[] }> {
    const directory = this.#storedRules
    try {
      const stored = new Map<string, StoredRule>()
      const broken: string[] = []
      for (const name of namesIn(directory)) {
        const rule = this.#stored.get(name) ?? (await readStored(directory, name))
        if (rule === undefined) broken.push(`${join(directory, name)} is not a rule`)
        else stored.set(name, rule)
      }
      this.#stored = stored
      return { rules: [...stored.values()].filter(({ project }) => project === null || project === cwd), broken }
    } catch (error) {
      return { rules: [], broken: [`${directory} cannot be read: ${reasonOf(error)}`] }
    }
  }
}

interface Source {
  readonly rules: readonly RuleEntry[]
  readonly broken: readonly string[]
}

function ruleText({ effect, subject }: RuleEntry): string {
  return JSON.stringify([effect, subjectInOrder(subject)])
}

/** How many faults of one file are reported. */
const MAX_FAULTS = 3

function sourceOf(path: string, { rules, faults }: RuleEntries): Source {
  const reported = faults.slice(0, MAX_FAULTS)
  return { rules, broken: reported.map(({ key, reason }) => `${path} is wrong at ${key}: ${reason}`) }
}

/** Throws where the directory exists and cannot be read: it may hold a rule that denies. */
function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory).filter((name) => /^[0-9a-f]+\.json$/u.test(name))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

async function readStored(directory: string, name: string): Promise<StoredRule | undefined> {
  // A file that another process has just removed is reported as no rule; the next call reads the directory again.
  const text = await readText(join(directory, name)).catch(() => undefined)
  return text === undefined ? undefined : parseStoredRule(name.replace(/\.json$/u, ''), text)
}

/** A digest of exactly what the user trusts: these rules that allow, in this file. */
export function trustDigest(file: string, rules: readonly RuleEntry[]): string {
  const allowed = rules.filter(({ effect }) => effect === 'allow').map(({ subject }) => subjectInOrder(subject))
  return ruleId(['permissions', realpathSync(file), allowed])
}

/** The name under which the trust in the rules of a file is stored. No MCP server of a file can have it. */
export const TRUSTED_RULES = '[permissions]'

/** One line for users: `deny path .env*`. */
export function ruleLine(rule: Pick<Rule, 'effect' | 'subject'>): string {
  return ruleWords(rule)
}

/** The path as it was given where it does not exist or may not be read. */
function resolved(path: string): Promise<string> {
  return realpath(path).catch(() => path)
}

/** Where the path of a rule that denies or asks is a link, the same rule for the path that the link leads to. */
async function throughLinks(rule: Rule, roots: readonly string[]): Promise<readonly Rule[]> {
  const { path } = rule.subject
  if (path === undefined || rule.effect === 'allow') return []
  const parts = path.split('/').filter((part) => part !== '')
  const firstPattern = parts.findIndex((part) => /[*?]/u.test(part))
  const plain = firstPattern < 0 ? parts : parts.slice(0, firstPattern)
  if (plain.length === 0) return []
  const patterns = parts.slice(plain.length)
  const targets = await Promise.all(roots.map((root) => linkTarget(join(root, ...plain))))
  return targets.flatMap((target) =>
    roots.flatMap((root) => {
      if (target === undefined || target === root || !isWithin(target, root)) return []
      return [{ ...rule, subject: { ...rule.subject, path: `/${[relative(root, target), ...patterns].join('/')}` } }]
    }),
  )
}

async function linkTarget(path: string): Promise<string | undefined> {
  const real = await resolved(path)
  return real === path ? undefined : real
}

function ruleOf({ effect, subject, ...found }: FoundRule): Rule {
  return { effect, subject, origin: originOf(found) }
}

function originOf({ from, id, project }: Pick<FoundRule, 'from' | 'id' | 'project'>): string {
  if (from === 'user') return 'of your parley.toml'
  if (from === 'project') return 'of the .parley.toml of this project'
  return `${id} of yours, for ${project === null ? 'all projects' : 'this project'}`
}

function brokenSentence(broken: readonly string[]): string | undefined {
  return broken.length === 0
    ? undefined
    : `Not all permission rules can be read, so every call is asked about: ${broken.join('; ')}.`
}
