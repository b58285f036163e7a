/**
 * Goes to a place inside the root set without ever following a link that it has not looked at. Each directory is opened from
 * the one before it and held, so that whatever is swapped on the way meanwhile leads nowhere else.
 */
import { constants, type Stats } from 'node:fs'
import { type FileHandle, lstat, mkdir, open, readlink, realpath } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { fail, isParleyError } from '../errors/parley-error.ts'
import { refuse } from './refuse.ts'
import { type Root, isInside, routeTo } from './root-set.ts'

/** A directory that is held open. */
export interface Held {
  readonly handle: FileHandle
  /** Without links, as it was when it was opened. */
  readonly real: string
}

export interface Place {
  /** Where it stands; the place itself when `name` is empty. */
  readonly held: Held
  readonly name: string
  readonly real: string
  /** Undefined where nothing is. Never a link. */
  readonly found: Stats | undefined
}

export interface Walking {
  readonly roots: readonly Root[]
  /** What becomes of a directory on the way that is not there: FILE_MISSING, unless it is made, or the place only named. */
  readonly missing?: 'make' | 'name'
  /** A link on the way is as good as nothing there: FILE_MISSING. Without it links are followed inside the root set. */
  readonly links?: 'never'
}

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants
const DIRECTORY = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK
/** As many as the kernel follows. */
const MOST_LINKS = 40
/** Somebody changes the way again and again. */
const MOST_ATTEMPTS = 5

/** Calls `use` with the place, and lets go of it after. Throws PATH_OUTSIDE_ROOTS. */
export async function at<Result>(
  path: string,
  walking: Walking,
  use: (place: Place) => Promise<Result>,
): Promise<Result> {
  const place = await arrive(path, walking)
  try {
    return await use(place)
  } finally {
    await place.held.handle.close()
  }
}

/** A path that leads to `name` in the directory that is held, wherever that directory is by now. */
export function within({ handle, real }: Held, name: string): string {
  if (process.platform === 'linux')
    return name === '' ? `/proc/self/fd/${handle.fd}/.` : `/proc/self/fd/${handle.fd}/${name}`
  return name === '' ? real : join(real, name)
}

/** Throws when what is open does not lie in the root set: a directory on the way was moved out of it. */
export async function requireInside(handle: FileHandle, real: string, roots: readonly Root[]): Promise<void> {
  if (!isInside(await whereIs(handle, real), roots)) fail('PATH_OUTSIDE_ROOTS', { path: real })
}

async function whereIs(handle: FileHandle, real: string): Promise<string> {
  if (process.platform === 'linux') return readlink(`/proc/self/fd/${handle.fd}`)
  // Without that the path itself is asked once more, and has to lead to what is open.
  const [opened, there, path] = await Promise.all([handle.stat(), lstat(real), realpath(real)])
  return opened.ino === there.ino && opened.dev === there.dev ? path : ''
}

/** A place in a directory that is held. */
export async function lookAt(held: Held, name: string): Promise<Place> {
  return { held, name, real: join(held.real, name), found: await look(held, name) }
}

/** A directory in one that is held; undefined where it is none any more, may not be read, or lies elsewhere by now. */
export async function goBelow(held: Held, name: string, roots: readonly Root[]): Promise<Held | undefined> {
  const below = await openHeld(within(held, name), join(held.real, name)).catch(unlessAbsent)
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

const ABSENT = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'EMLINK', 'EACCES', 'EPERM', 'ENAMETOOLONG', 'ESTALE', 'ENXIO'])

/** Undefined for what has gone, has become something else or may not be read. Too many open files is none of these: it throws. */
export function unlessAbsent(error: unknown): undefined {
  const { code } = error as NodeJS.ErrnoException
  if (isParleyError(error) || (code !== undefined && ABSENT.has(code))) return undefined
  throw error
}

async function arrive(path: string, walking: Walking): Promise<Place> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await walk(path, walking)
    } catch (error) {
      if (!isSwapped(error)) throw error
      if (attempt === MOST_ATTEMPTS) refuse(`${path} changes while it is looked at. Try again later.`, error)
    }
  }
}

/** What was a directory a moment ago is a link or a file now. */
function isSwapped(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'ELOOP' || code === 'ENOTDIR' || code === 'EMLINK'
}

async function walk(path: string, walking: Walking): Promise<Place> {
  let target = path
  for (let links = 0; links <= MOST_LINKS; links++) {
    const step = await walkTo(target, walking)
    if (!('link' in step)) return step
    target = step.link
  }
  return refuse(`${path} leads through too many links.`)
}

/** The place, or where the first link on the way to it leads. */
async function walkTo(path: string, { roots, missing, links }: Walking): Promise<Place | { readonly link: string }> {
  const { root, names } = routeTo(path, roots)
  let held = await openHeld(root.real, root.real)
  try {
    await requireInside(held.handle, held.real, roots)
    for (const [index, name] of names.entries()) {
      const real = join(held.real, name)
      const found = await look(held, name)
      if (found?.isSymbolicLink() === true) {
        const link = await leadingTo(held, name, { names: names.slice(index + 1), links, path })
        await held.handle.close()
        return { link }
      }
      if (index === names.length - 1) return { held, name, real, found }
      if (found === undefined && missing === 'name')
        return { held, name, real: join(held.real, ...names.slice(index)), found }
      held = await goDown(held, name, { found, makes: missing === 'make', path })
    }
    return { held, name: '', real: held.real, found: await held.handle.stat() }
  } catch (error) {
    await held.handle.close()
    throw error
  }
}

interface Link {
  /** What comes after it in the path. */
  readonly names: readonly string[]
  readonly links: Walking['links']
  readonly path: string
}

async function leadingTo(held: Held, name: string, { names, links, path }: Link): Promise<string> {
  if (links === 'never') fail('FILE_MISSING', { path })
  return resolve(held.real, await readlink(within(held, name)), ...names)
}

interface Step {
  readonly found: Stats | undefined
  readonly makes: boolean
  readonly path: string
}

async function goDown(held: Held, name: string, { found, makes, path }: Step): Promise<Held> {
  const real = join(held.real, name)
  if (found === undefined && makes) await mkdir(within(held, name)).catch(unlessThere)
  else if (found === undefined) fail('FILE_MISSING', { path })
  else if (!found.isDirectory()) refuse(`${path} cannot be there: ${real} is not a directory.`)
  const next = await openHeld(within(held, name), real)
  await held.handle.close()
  return next
}

function unlessThere(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
}

async function look(held: Held, name: string): Promise<Stats | undefined> {
  try {
    return await lstat(within(held, name))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    if (code === 'ENAMETOOLONG') return refuse(`The name ${JSON.stringify(name.slice(0, 80))}… is too long.`, error)
    throw error
  }
}

async function openHeld(path: string, real: string): Promise<Held> {
  return { handle: await open(path, DIRECTORY), real }
}
