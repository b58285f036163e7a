/** Reads and replaces files at places of the root set: whole, or not at all. */
import { constants } from 'node:fs'
import { type FileHandle, open, rename, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fail } from '../errors/parley-error.ts'
import { refuse } from './refuse.ts'
import { type Place, at, requireInside, within } from './resolve.ts'
import { type Root, shortly } from './root-set.ts'

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants

/** Bytes of a file that is read at all. */
const LARGEST = 32 * 1024 * 1024

export interface Bytes {
  readonly real: string
  readonly bytes: Buffer
}

/** Throws FILE_MISSING and PATH_OUTSIDE_ROOTS, and says what it is when it is no file, or too large. */
export function readBytes(path: string, roots: readonly Root[], limit = LARGEST): Promise<Bytes> {
  return at(path, { roots }, async (place) => ({ real: place.real, bytes: await bytesAt(place, { roots, limit }) }))
}

/** The real path of what is there or could be made there. */
export function realPath(path: string, roots: readonly Root[]): Promise<string> {
  return at(path, { roots, missing: 'name' }, async ({ real }) => real)
}

export interface Writing {
  readonly path: string
  readonly bytes: Uint8Array
  readonly roots: readonly Root[]
  /** Nobody else's. */
  readonly id: string
  /** Throws where it leads to what must not be written. */
  readonly found: (real: string) => void
}

/**
 * Replaces the file or makes it, with the directories on the way, in one step that is seen as a whole or not at all. Resolves
 * with its real path.
 */
export function writeBytes({ path, bytes, roots, id, found }: Writing): Promise<string> {
  return at(path, { roots, missing: 'make' }, async (place) => {
    found(place.real)
    requireWritable(place, roots)
    const draft = within(place.held, `.parley-${id}`)
    try {
      await writeDraft(draft, bytes, place)
      await requireInside(place.held.handle, dirname(place.real), roots)
      await rename(draft, within(place.held, place.name))
    } catch (error) {
      await unlink(draft).catch(() => undefined)
      throw error
    }
    return place.real
  })
}

interface Reading {
  readonly roots: readonly Root[]
  readonly limit: number
}

export async function bytesAt(place: Place, { roots, limit }: Reading): Promise<Buffer> {
  const { held, name, real, found } = place
  const shown = shortly(real, roots)
  if (found === undefined) return fail('FILE_MISSING', { path: shown })
  requireFile(place, shown)
  // Should it be something else by now: opening a pipe does not wait, and a link is not followed.
  const handle = await open(within(held, name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    const opened = await handle.stat()
    if (!opened.isFile()) refuse(`${shown} changes while it is looked at. Try again later.`)
    await requireInside(handle, real, roots)
    if (opened.size > limit)
      refuse(
        `${shown} has ${opened.size.toLocaleString('en-US')} bytes; at most ${limit.toLocaleString('en-US')} are read. Use run_command: head, tail, sed -n, grep.`,
      )
    return await contentOf(handle, limit)
  } finally {
    await handle.close()
  }
}

/** A file may grow while it is read; those of /proc have no size. */
async function contentOf(handle: FileHandle, limit: number): Promise<Buffer> {
  const pieces: Buffer[] = []
  let total = 0
  while (total < limit) {
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(Math.min(256 * 1024, limit - total)))
    if (bytesRead === 0) break
    pieces.push(buffer.subarray(0, bytesRead))
    total += bytesRead
  }
  return Buffer.concat(pieces)
}

function requireFile({ found }: Place, shown: string): void {
  if (found === undefined || found.isFile()) return
  if (found.isDirectory()) refuse(`${shown} is a directory. Use list_directory.`)
  refuse(`${shown} is ${oddity(found)}, not a file, and was left alone.`)
}

function oddity(found: NonNullable<Place['found']>): string {
  if (found.isFIFO()) return 'a named pipe'
  if (found.isSocket()) return 'a socket'
  return found.isCharacterDevice() || found.isBlockDevice() ? 'a device' : 'something else'
}

function requireWritable(place: Place, roots: readonly Root[]): void {
  const shown = shortly(place.real, roots)
  if (place.name === '') refuse(`${shown} is a directory. Name a file in it.`)
  requireFile(place, shown)
  if (place.found !== undefined && (place.found.mode & 0o222) === 0)
    refuse(`${shown} is read-only and was not changed.`)
}

/** With the rights of the file whose place it takes. */
async function writeDraft(draft: string, bytes: Uint8Array, { found }: Place): Promise<void> {
  const handle = await open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o666)
  try {
    await handle.writeFile(bytes)
    if (found !== undefined) await handle.chmod(found.mode & 0o7777)
    await handle.sync()
  } finally {
    await handle.close()
  }
}
