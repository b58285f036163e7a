/** The MCP servers of the user's file and of a project's, and which of them may be used. */
import { realpathSync, statSync } from 'node:fs'
import { parse } from 'smol-toml'
import { reasonOf } from '../../errors/parley-error.ts'
import { consentFile, digestOf, isAllowed } from './trust-store.ts'
import { readMcp, type McpEntry } from './mcp-servers.ts'
import { projectFile, userFile } from '../places.ts'
import type { SettingMistake } from '../tables.ts'
import { MAX_PROJECT_BYTES, readTextSync } from '../../state-files/bounded-read.ts'

export interface FoundMcp {
  readonly entry: McpEntry
  readonly file: string
  readonly from: 'user' | 'project'
  /** A hash of exactly the text that the user consents to. */
  readonly digest: string
  /**
   * A project's server waits until the user allows it; then it counts more than one of the user that has the same
   * name, which is overruled.
   */
  readonly standing: 'active' | 'waiting' | 'disabled' | 'overruled'
}

export interface McpFiles {
  readonly servers: readonly FoundMcp[]
  /** Mistakes in single servers or whole files, without secrets. */
  readonly faults: readonly (SettingMistake & { readonly file: string })[]
}

interface SettingsLocation {
  readonly home: string
  readonly environment: Readonly<Record<string, string | undefined>>
}

/** Never throws: a mistake in one server does not affect the others. */
export function readMcpFiles({ home, environment }: SettingsLocation, cwd: string): McpFiles {
  const user = readOne(userFile(environment), 'user')
  const project = readOne(projectFile(cwd), 'project')
  const found = [...user.entries, ...project.entries]
  return {
    servers: found.map((one) => standingFor(home, one, found)),
    faults: [...user.faults, ...project.faults],
  }
}

/** How old a change must be to differ from the next one, by the clock of the slowest file system. Milliseconds. */
const SETTLED_MS = 2_500
/** Directories whose files are known. */
const MAX_KNOWN = 200

/** Reads the files of a directory anew only once one of them has changed: they are asked for before each prompt of an agent. */
export class McpFileReader {
  readonly #location: SettingsLocation
  readonly #now: () => number
  readonly #known = new Map<string, { readonly stamp: string; readonly files: McpFiles }>()

  constructor(location: SettingsLocation, now: () => number) {
    this.#location = location
    this.#now = now
  }

  read(cwd: string): McpFiles {
    const known = this.#known.get(cwd)
    const stamp = this.#stampOf(cwd)
    if (known !== undefined && known.stamp === stamp) return known.files
    const files = readMcpFiles(this.#location, cwd)
    this.#known.delete(cwd)
    if (this.#known.size >= MAX_KNOWN) this.#known.clear()
    if (stamp !== undefined) this.#known.set(cwd, { stamp, files })
    return files
  }

  /** Undefined where a file has just changed: the next change might not show. */
  #stampOf(cwd: string): string | undefined {
    const { home, environment } = this.#location
    const settledBefore = this.#now() - SETTLED_MS
    const stamps = [userFile(environment), projectFile(cwd), consentFile(home)].map((file) =>
      stampOf(file, settledBefore),
    )
    return stamps.includes(undefined) ? undefined : stamps.join('\n')
  }
}

/** Undefined where it has changed since `settledBefore`, or cannot be looked at. */
function stampOf(file: string, settledBefore: number): string | undefined {
  try {
    const found = statSync(file, { throwIfNoEntry: false })
    if (found === undefined) return 'none'
    const { dev, ino, size, mtimeMs, ctimeMs } = found
    return Math.max(mtimeMs, ctimeMs) < settledBefore ? `${dev} ${ino} ${size} ${mtimeMs} ${ctimeMs}` : undefined
  } catch {
    // The attempt to read it says what is wrong.
    return undefined
  }
}

/** Whether the user allowed exactly this server and has not revoked it. */
export function mayBeUsed({ home }: SettingsLocation, { from, digest }: FoundMcp): boolean {
  return from === 'user' || isAllowed(home, digest)
}

type ReadServer = Omit<FoundMcp, 'standing'>

function readOne(
  file: string,
  from: FoundMcp['from'],
): { readonly entries: readonly ReadServer[]; readonly faults: McpFiles['faults'] } {
  try {
    const text = readTextSync(file, from === 'project' ? MAX_PROJECT_BYTES : undefined)
    // Most users have neither of the two files.
    if (text === undefined) return { entries: [], faults: [] }
    const { mcp = {} } = parse(text)
    const read = readMcp(mcp, from)
    const real = realpathSync(file)
    return {
      entries: read.flatMap((one) =>
        'entry' in one ? [{ entry: one.entry, file, from, digest: digestOf(real, one.entry) }] : [],
      ),
      faults: read.flatMap((one) => ('fault' in one ? [{ ...one.fault, file }] : [])),
    }
  } catch (error) {
    return { entries: [], faults: [{ key: file, value: 'read', reason: reasonOf(error), file }] }
  }
}

function standingFor(home: string, { entry, file, from, digest }: ReadServer, all: readonly ReadServer[]): FoundMcp {
  return { entry, file, from, digest, standing: standing() }

  function standing(): FoundMcp['standing'] {
    if (from === 'project' && !isAllowed(home, digest)) return 'waiting'
    const ofProject = all.find((other) => other.entry.name === entry.name && other.from === 'project')
    if (from === 'user' && ofProject !== undefined && isAllowed(home, ofProject.digest)) return 'overruled'
    return entry.enabled ? 'active' : 'disabled'
  }
}
