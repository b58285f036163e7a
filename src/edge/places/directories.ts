/**
 * The directories of the server's machine, for a client whose user chooses where a session works: lists them, and
 * decides which the client may name.
 */
import { homedir } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'
import { isBelow } from '../../credentials/scope.ts'
import { fail } from '../../errors/parley-error.ts'
import type { SessionDirectory } from '../../session/handle.ts'
import { type Root, openRoots, openSubdirectory, withResolvedPath } from '../../workspace/resolve-in-roots.ts'
import { namesIn } from '../../workspace/walk.ts'
import type { Access } from '../method-access.ts'
import { isBelowRoots } from './roots.ts'

export interface FoundDirectory {
  /** Absolute. */
  readonly path: string
  /** Sessions work there. */
  readonly used: boolean
}

export interface DirectoryQuery {
  /** Absolute; absent: those that sessions have, the roots, and for who may go anywhere the home directory. */
  readonly path?: string | undefined
  /** A part of the name. */
  readonly query: string
  readonly limit: number
}

interface Asker {
  readonly sessions: Pick<SessionDirectory, 'list'>
  readonly access: Access
  /** The setting `remote_roots`. */
  readonly roots: readonly string[]
}

/** Of the newest sessions, so many are asked for their directories. */
const SESSIONS = 1_000

/** Throws DIRECTORY_FOREIGN and DIRECTORY_MISSING. */
export async function findDirectories(asker: Asker, { path, query, limit }: DirectoryQuery) {
  const used = await usedDirectories(asker)
  const wanted = query.toLowerCase()
  const fits = (one: string): boolean => lastName(one).toLowerCase().includes(wanted)
  const found =
    path === undefined ? [...used, ...openTo(asker), ...homeFor(asker)] : await directoriesIn(path, asker, used)
  const shown = [...new Set(found)].filter((one) => fits(one) && (!isHidden(one) || wanted.startsWith('.')))
  const directories = shown.slice(0, limit).map((one): FoundDirectory => ({ path: one, used: used.includes(one) }))
  return { directories, more: shown.length > directories.length }
}

/** The directories that sessions have, the one of the newest session first. */
async function usedDirectories({ sessions }: Asker): Promise<readonly string[]> {
  const rows = await sessions.list({ limit: SESSIONS })
  return [...new Set(rows.map(({ cwd }) => cwd))]
}

/** The roots that this client may see besides: a credential for some sessions has none. */
function openTo({ access, roots }: Asker): readonly string[] {
  return access.scope === 'all' ? roots : []
}

/** So that a user who has no session yet has something to begin with. */
function homeFor(asker: Asker): readonly string[] {
  return mayGoAnywhere(asker) ? [homedir()] : []
}

function mayGoAnywhere({ access }: Asker): boolean {
  return access.mayNamePlaces && access.scope === 'all'
}

async function directoriesIn(path: string, asker: Asker, used: readonly string[]): Promise<readonly string[]> {
  if (!isAbsolute(path)) fail('PATH_NOT_ABSOLUTE', { what: 'path', path })
  if (!mayGoAnywhere(asker) && !(await isBelowRoots(path, openTo(asker)))) {
    const below = used.filter((one) => one !== resolve(path) && isBelow(one, resolve(path)))
    return below.length > 0 || used.includes(resolve(path)) ? below : fail('DIRECTORY_FOREIGN', { what: 'path', path })
  }
  const roots = await openRoots(mayGoAnywhere(asker) ? ['/'] : openTo(asker))
  return namesBelow(path, roots).catch((error: unknown) => fail('DIRECTORY_MISSING', { what: 'path', path }, error))
}

/** Held open while it is read, so that no link leads out of the roots meanwhile. */
function namesBelow(path: string, roots: readonly Root[]): Promise<readonly string[]> {
  return withResolvedPath(path, { roots }, async ({ held, name }) => {
    const directory = name === '' ? held : await openSubdirectory(held, name, roots)
    if (directory === undefined) return fail('DIRECTORY_MISSING', { what: 'path', path })
    try {
      const { entries } = await namesIn(directory)
      return entries.filter(({ kind }) => kind === 'directory').map((one) => join(path, one.name))
    } finally {
      await directory.handle.close().catch(() => undefined)
    }
  })
}

function lastName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

function isHidden(path: string): boolean {
  return lastName(path).startsWith('.')
}
