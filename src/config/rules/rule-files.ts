/** The rules of all sources for a directory, as they are now: the user's file, the project's, and those that were stored. */
import { realpath } from 'node:fs/promises'
import { realpathSync } from 'node:fs'
import { parse } from 'smol-toml'
import { reasonOf } from '../../errors/parley-error.ts'
import { isAllowed } from '../mcp/trust.ts'
import { projectFile, userFile } from '../places.ts'
import { RuleStore, idOf, inOrder, rulesDirectory } from './rule-store.ts'
import { type RuleEntry, readPermissions } from './rules.ts'
import { LARGEST_OF_PROJECT, textOfFile } from '../files/read-text-file.ts'

export interface FoundRule extends RuleEntry {
  readonly from: 'user' | 'project' | 'stored'
  /** Of a stored one; those of files are changed there. */
  readonly id?: string
  readonly file?: string
  /** Of a stored one: the directory whose sessions have it, null for all. */
  readonly project?: string | null
  /** What a project allows waits until the user agrees; what it asks about or denies holds at once. */
  readonly standing: 'active' | 'waiting'
}

export interface RuleFiles {
  readonly rules: readonly FoundRule[]
  /** One sentence for each source that cannot be read as it is meant. */
  readonly broken: readonly string[]
  /** The directory with its links resolved. */
  readonly cwd: string
}

interface Where {
  readonly home: string
  readonly environment: Readonly<Record<string, string | undefined>>
}

/** What exactly the user agrees to: these rules, in this file. */
export function consentTo(file: string, rules: readonly RuleEntry[]): string {
  const allowed = rules.filter(({ effect }) => effect === 'allow').map(({ subject }) => inOrder(subject))
  return idOf(['permissions', realpathSync(file), allowed])
}

/** The name under which it is kept, which no MCP server of a file can have beside it. */
export const CONSENT = '[permissions]'

interface Source {
  readonly rules: readonly RuleEntry[]
  readonly broken: readonly string[]
}

/** Parses a file only when it says something else than before. */
export class RuleReader {
  readonly #where: Where
  readonly #store: RuleStore
  readonly #parsed = new Map<string, { readonly text: string; readonly source: Source }>()

  constructor(where: Where) {
    this.#where = where
    this.#store = new RuleStore(where.home)
  }

  /** Never throws. */
  async read(directory: string): Promise<RuleFiles> {
    const { home, environment } = this.#where
    const cwd = await realpath(directory).catch(() => directory)
    const [mine, theirs] = [userFile(environment), projectFile(directory)]
    const [user, project, stored] = await Promise.all([
      this.#file(mine, 'user'),
      this.#file(theirs, 'project'),
      this.#stored(cwd),
    ])
    const allows = project.rules.some(({ effect }) => effect === 'allow')
    const isAgreed = allows && isAllowed(home, consentTo(theirs, project.rules))
    return {
      cwd,
      rules: [
        ...stored.rules,
        ...user.rules.map((rule): FoundRule => ({ ...rule, from: 'user', file: mine, standing: 'active' })),
        ...project.rules.map((rule): FoundRule => ({
          ...rule,
          from: 'project',
          file: theirs,
          standing: rule.effect === 'allow' && !isAgreed ? 'waiting' : 'active',
        })),
      ],
      broken: [...user.broken, ...project.broken, ...stored.broken],
    }
  }

  async #file(path: string, from: 'user' | 'project'): Promise<Source> {
    try {
      const text = await textOfFile(path, from === 'project' ? LARGEST_OF_PROJECT : undefined)
      if (text === undefined) return { rules: [], broken: [] }
      const known = this.#parsed.get(path)
      const source = known?.text === text ? known.source : sourceOf(path, text, from)
      this.#parsed.set(path, { text, source })
      return source
    } catch (error) {
      return { rules: [], broken: [`${path} cannot be read: ${reasonOf(error)}`] }
    }
  }

  async #stored(cwd: string): Promise<{ readonly rules: readonly FoundRule[]; readonly broken: readonly string[] }> {
    try {
      const { rules, wrong } = await this.#store.read()
      const here = rules.filter(({ project }) => project === null || project === cwd)
      return {
        rules: here.map((rule) => Object.assign({ from: 'stored', standing: 'active' } as const, rule)),
        broken: wrong.map((file) => `${file} is no rule`),
      }
    } catch (error) {
      return { rules: [], broken: [`${rulesDirectory(this.#where.home)} cannot be read: ${reasonOf(error)}`] }
    }
  }
}

/** Sentences of one file that people are told. */
const MOST_FAULTS = 3

function sourceOf(path: string, text: string, from: 'user' | 'project'): Source {
  try {
    const { rules, faults } = readPermissions(parse(text)['permissions'] ?? {}, from)
    const told = faults.slice(0, MOST_FAULTS)
    return { rules, broken: told.map(({ key, reason }) => `${path} is wrong at ${key}: ${reason}`) }
  } catch (error) {
    return { rules: [], broken: [`${path} cannot be read: ${reasonOf(error).split('\n', 1)[0]}`] }
  }
}
