/**
 * Resolves paths inside a session's directories without following a link that was not examined. Each directory is opened from
 * its parent and held open, so that a link that another program puts on the way meanwhile leads nowhere else.
 */
import { constants, type Stats } from 'node:fs'
import { type FileHandle, lstat, mkdir, open, readlink, realpath } from 'node:fs/promises'
import { join, resolve, isAbsolute, relative, sep } from 'node:path'
import { fail, isParleyError } from '../errors/parley-error.ts'
import { isWithin } from '../path-rules/path-rules.ts'
import { ambiguityOf } from '../path-rules/windows-paths.ts'

/** A directory that is held open. */
export interface OpenDirectory {
  readonly handle: FileHandle
  /** Without links, as it was when it was opened. */
  readonly real: string
}

export interface ResolvedPlace {
  /** Where it stands; the place itself when `name` is empty. */
  readonly held: OpenDirectory
  readonly name: string
  readonly real: string
  /** Undefined where nothing is. Never a link. */
  readonly found: Stats | undefined
}

export interface ResolveOptions {
  readonly roots: readonly Root[]
  /** A missing directory on the way: `make` creates it, `name` only names the place. Without it FILE_MISSING is thrown. */
  readonly missing?: 'make' | 'name'
  /** A link on the way is as good as nothing there: FILE_MISSING. Without it links are followed inside the root set. */
  readonly links?: 'never'
}

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants
const DIRECTORY = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK
/** As many as the kernel follows. */
const MOST_LINKS = 40
/** Another program may keep replacing directories on the way. */
const MOST_ATTEMPTS = 5

/** Calls `use` with the opened path, and closes it afterwards. Throws PATH_OUTSIDE_ROOTS. */
export async function withResolvedPath<Result>(
  path: string,
  walking: ResolveOptions,
  use: (place: ResolvedPlace) => Promise<Result>,
): Promise<Result> {
  const place = await resolveWithRetry(path, walking)
  try {
    return await use(place)
  } finally {
    await place.held.handle.close()
  }
}

/** The real path of what is there or could be made there. */
export function realPath(path: string, roots: readonly Root[]): Promise<string> {
  return withResolvedPath(path, { roots, missing: 'name' }, async ({ real }) => real)
}

/** A path that leads to `name` in the directory that is held, wherever that directory is by now. */
export function childPath({ handle, real }: OpenDirectory, name: string): string {
  if (process.platform === 'linux')
    return name === '' ? `/proc/self/fd/${handle.fd}/.` : `/proc/self/fd/${handle.fd}/${name}`
  return name === '' ? real : join(real, name)
}

/** Throws when what is open does not lie in the root set: a directory on the way was moved out of it. */
export async function requireInside(handle: FileHandle, real: string, roots: readonly Root[]): Promise<void> {
  if (!isInside(await realPathOfHandle(handle, real), roots)) fail('PATH_OUTSIDE_ROOTS', { path: real })
}

async function realPathOfHandle(handle: FileHandle, real: string): Promise<string> {
  if (process.platform === 'linux') return readlink(`/proc/self/fd/${handle.fd}`)
  // Without that the path itself is asked once more, and has to lead to what is open.
  const [opened, there, path] = await Promise.all([handle.stat(), lstat(real), realpath(real)])
  return opened.ino === there.ino && opened.dev === there.dev ? path : ''
}

/** A place in a directory that is held. */
export async function placeIn(held: OpenDirectory, name: string): Promise<ResolvedPlace> {
  return { held, name, real: join(held.real, name), found: await statEntry(held, name) }
}

/** Opens a directory inside an open one; undefined if it is no directory any more, may not be read, or was moved away. */
export async function openSubdirectory(
  held: OpenDirectory,
  name: string,
  roots: readonly Root[],
): Promise<OpenDirectory | undefined> {
  const below = await openDirectory(childPath(held, name), join(held.real, name)).catch(unlessAbsent)
  if (below === undefined) return undefined
  try {
    await requireInside(below.handle, below.real, roots)
    return below
  } catch {
    // It was moved out of the root set meanwhile.
    await below.handle.close()
    return undefined
  }
}

/** The last two are of directories below `/proc` whose process has ended. */
const ABSENT = new Set('ENOENT ENOTDIR ELOOP EMLINK EACCES EPERM ENAMETOOLONG ESTALE ENXIO EINVAL ESRCH'.split(' '))

/** Undefined if the file is gone, is something else now or may not be read. Throws other errors, such as too many open files. */
export function unlessAbsent(error: unknown): undefined {
  const { code } = error as NodeJS.ErrnoException
  if ((code !== undefined && ABSENT.has(code)) || isParleyError(error)) return undefined
  throw error
}

async function resolveWithRetry(path: string, walking: ResolveOptions): Promise<ResolvedPlace> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await resolvePlace(path, walking)
    } catch (error) {
      if (!wasReplaced(error)) throw error
      if (attempt === MOST_ATTEMPTS) refuseFile(`${path} changes while it is looked at. Try again later.`, error)
    }
  }
}

/** A directory on the way was replaced by a link or a file. */
function wasReplaced(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'ELOOP' || code === 'ENOTDIR' || code === 'EMLINK'
}

async function resolvePlace(path: string, walking: ResolveOptions): Promise<ResolvedPlace> {
  let target = path
  for (let links = 0; links <= MOST_LINKS; links++) {
    const step = await resolveUntilLink(target, walking)
    if (!('link' in step)) return step
    target = step.link
  }
  return refuseFile(`${path} leads through too many links.`)
}

/** The place, or where the first link on the way to it leads. */
async function resolveUntilLink(
  path: string,
  { roots, missing, links }: ResolveOptions,
): Promise<ResolvedPlace | { readonly link: string }> {
  const { root, names } = routeTo(path, roots)
  let held = await openDirectory(root.real, root.real)
  try {
    await requireInside(held.handle, held.real, roots)
    for (const [index, name] of names.entries()) {
      const real = join(held.real, name)
      const found = await statEntry(held, name)
      if (found?.isSymbolicLink() === true) {
        const link = await linkTarget(held, name, { names: names.slice(index + 1), links, path })
        await held.handle.close()
        return { link }
      }
      if (index === names.length - 1) return { held, name, real, found }
      if (found === undefined && missing === 'name')
        return { held, name, real: join(held.real, ...names.slice(index)), found }
      held = await descend(held, name, { found, makes: missing === 'make', path })
    }
    return { held, name: '', real: held.real, found: await held.handle.stat() }
  } catch (error) {
    await held.handle.close()
    throw error
  }
}

interface LinkOnPath {
  /** The names that follow the link in the path. */
  readonly names: readonly string[]
  readonly links: ResolveOptions['links']
  readonly path: string
}

async function linkTarget(held: OpenDirectory, name: string, { names, links, path }: LinkOnPath): Promise<string> {
  if (links === 'never') fail('FILE_MISSING', { path })
  return resolve(held.real, await readlink(childPath(held, name)), ...names)
}

interface DescendOptions {
  readonly found: Stats | undefined
  readonly makes: boolean
  readonly path: string
}

async function descend(
  held: OpenDirectory,
  name: string,
  { found, makes, path }: DescendOptions,
): Promise<OpenDirectory> {
  const real = join(held.real, name)
  if (found === undefined && makes) await mkdir(childPath(held, name)).catch(unlessThere)
  else if (found === undefined) fail('FILE_MISSING', { path })
  else if (!found.isDirectory()) refuseFile(`${path} cannot be there: ${real} is not a directory.`)
  const next = await openDirectory(childPath(held, name), real)
  await held.handle.close()
  return next
}

function unlessThere(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
}

async function statEntry(held: OpenDirectory, name: string): Promise<Stats | undefined> {
  try {
    return await lstat(childPath(held, name))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    if (code === 'ENAMETOOLONG') return refuseFile(`The name ${JSON.stringify(name.slice(0, 80))}… is too long.`, error)
    throw error
  }
}

async function openDirectory(path: string, real: string): Promise<OpenDirectory> {
  return { handle: await open(path, DIRECTORY), real }
}

export function refuseFile(reason: string, cause?: unknown): never {
  return fail('FILE_REFUSED', { reason }, cause)
}

export interface Root {
  /** The path as clients and users write it. */
  readonly given: string
  /** Without links. */
  readonly real: string
}

/** Where a path leads by its words alone: from a root, through these names. */
export interface PathRoute {
  readonly root: Root
  readonly names: readonly string[]
}

/** Those of them that are there. */
export async function openRoots(roots: readonly string[]): Promise<readonly Root[]> {
  const found = await Promise.all(
    roots.map(async (given) => {
      const real = await realpath(given).catch(() => undefined)
      return real === undefined ? [] : [{ given: resolve(given), real }]
    }),
  )
  return found.flat()
}

/** Throws PATH_OUTSIDE_ROOTS. A path that is not absolute begins at the first root. */
export function routeTo(path: string, roots: readonly Root[]): PathRoute {
  const [first] = roots
  if (first === undefined)
    return refuseFile('The directory of this session is not there any more. Make it again, or open another session.')
  if (path.includes('\0')) refuseFile('A path cannot hold a NUL character.')
  const absolute = isAbsolute(path) ? resolve(path) : resolve(first.given, path)
  const routes = roots.flatMap((root) =>
    [root.given, root.real].flatMap((base) => routeBelow(base, { root, absolute })),
  )
  // Of roots that lie within each other the innermost knows best.
  const [route] = routes.toSorted((one, other) => one.names.length - other.names.length)
  if (process.platform === 'win32') route?.names.forEach(requireOneMeaning)
  return route ?? fail('PATH_OUTSIDE_ROOTS', { path })
}

function requireOneMeaning(name: string): void {
  const ambiguity = ambiguityOf(name)
  if (ambiguity !== undefined) refuseFile(`The name ${JSON.stringify(name)} ${ambiguity}.`)
}

/** Whether a real path lies in the root set. */
function isInside(real: string, roots: readonly Root[]): boolean {
  return roots.some((root) => isWithin(real, root.real))
}

/** A real path as users write it. */
export function pathAsGiven(real: string, roots: readonly Root[]): string {
  const { root, names } = routeTo(real, roots)
  return join(root.given, ...names)
}

/** A real path from the first root on, if it lies there. */
export function pathFromFirstRoot(real: string, roots: readonly Root[]): string {
  const { root, names } = routeTo(real, roots)
  if (root !== roots[0]) return join(root.given, ...names)
  return names.join(sep) || '.'
}

function routeBelow(
  base: string,
  { root, absolute }: { readonly root: Root; readonly absolute: string },
): readonly PathRoute[] {
  if (!isWithin(absolute, base)) return []
  return [
    {
      root,
      names: relative(base, absolute)
        .split(sep)
        .filter((name) => name !== ''),
    },
  ]
}
