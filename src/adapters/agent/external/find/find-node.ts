/** Finds a Node that is new enough for an agent. */
import { execFile } from 'node:child_process'
import { constants } from 'node:fs'
import { access, realpath, stat } from 'node:fs/promises'
import { delimiter, dirname, isAbsolute, join } from 'node:path'
import { promisify } from 'node:util'
import { compareVersions } from '../known/version.ts'

export interface FoundNode {
  /** Absolute. */
  readonly program: string
  readonly version: string
}

export interface NodePlaces {
  /** The agent's PATH. */
  readonly path: string | undefined
  /** Copies of Node that Parley installed, absolute. */
  readonly installed: readonly string[]
}

const TIMEOUT_MS = 10_000

/** By the file and when it was changed: asking it costs a process. */
const versions = new Map<string, Promise<string | undefined>>()

/** The Node that runs Parley, if that is new enough; then those on PATH, then those that Parley installed. */
export async function findNode(wanted: string, { path, installed }: NodePlaces): Promise<FoundNode | undefined> {
  const own = { program: process.execPath, version: process.versions.node }
  if (fits(own.version, wanted)) return own
  const onPath = (path ?? '').split(delimiter).filter(isAbsolute)
  for (const program of [...onPath.map((folder) => join(folder, 'node')), ...installed]) {
    const version = await versionOf(program)
    if (version !== undefined && fits(version, wanted)) return { program, version }
  }
  return undefined
}

/** PATH with this Node before every other. */
export function pathWith(node: FoundNode, path: string | undefined): string {
  return [dirname(node.program), ...(path ?? '').split(delimiter).filter(isAbsolute)].join(delimiter)
}

function fits(version: string, wanted: string): boolean {
  return compareVersions(version, wanted) >= 0
}

async function versionOf(program: string): Promise<string | undefined> {
  try {
    await access(program, constants.X_OK)
    const file = await realpath(program)
    const { mtimeMs } = await stat(file)
    const key = `${file} ${mtimeMs}`
    const version = versions.get(key) ?? askVersion(file)
    versions.set(key, version)
    return await version
  } catch {
    // There is none: most folders of PATH have no Node.
    return undefined
  }
}

async function askVersion(program: string): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)(program, ['--version'], { timeout: TIMEOUT_MS, env: {} })
    return /^v(\d+\.\d+\.\d+)/u.exec(stdout)?.[1]
  } catch {
    // A program of this name that is no Node, or one for another machine.
    return undefined
  }
}
