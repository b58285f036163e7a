/** Reads and replaces whole files inside a session's directories. A replacement is complete or does not happen. */
import { constants } from 'node:fs'
import { type FileHandle, open, rename, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fail } from '../errors/parley-error.ts'
import {
  refuseFile,
  type ResolvedPlace,
  withResolvedPath,
  requireInside,
  childPath,
  type Root,
  pathFromFirstRoot,
} from './resolve-in-roots.ts'
import { formatCount } from '../text/shorten.ts'

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants

/** Bytes of a file that is read at all. */
const MAX_FILE_BYTES = 32 * 1024 * 1024

export interface FileBytes {
  readonly real: string
  readonly bytes: Buffer
}

/** Throws FILE_MISSING and PATH_OUTSIDE_ROOTS, and says what it is when it is no file, or too large. */
export function readBytes(path: string, roots: readonly Root[], limit = MAX_FILE_BYTES): Promise<FileBytes> {
  return withResolvedPath(path, { roots }, async (place) => ({
    real: place.real,
    bytes: await bytesAt(place, { roots, limit }),
  }))
}

/** Undefined where there is no such file; throws what `readBytes` throws besides. */
export function readBytesIfThere(
  path: string,
  roots: readonly Root[],
  limit = MAX_FILE_BYTES,
): Promise<FileBytes | undefined> {
  return withResolvedPath(path, { roots, missing: 'name' }, async (place) =>
    place.found === undefined ? undefined : { real: place.real, bytes: await bytesAt(place, { roots, limit }) },
  )
}

export interface FileWrite {
  readonly path: string
  readonly bytes: Uint8Array
  readonly roots: readonly Root[]
  /** Unique. */
  readonly id: string
  /** Throws where it leads to what must not be written. */
  readonly found: (real: string) => void
}

/**
 * Replaces the file or makes it, with the directories on the way, in one step that is seen as a whole or not at all. Resolves
 * with its real path.
 */
export function writeBytes({ path, bytes, roots, id, found }: FileWrite): Promise<string> {
  return withResolvedPath(path, { roots, missing: 'make' }, async (place) => {
    found(place.real)
    requireWritable(place, roots)
    const draft = childPath(place.held, `.parley-${id}`)
    try {
      await writeDraft(draft, bytes, place)
      await requireInside(place.held.handle, dirname(place.real), roots)
      await rename(draft, childPath(place.held, place.name))
    } catch (error) {
      await unlink(draft).catch(() => undefined)
      throw error
    }
    return place.real
  })
}

interface ReadOptions {
  readonly roots: readonly Root[]
  readonly limit: number
}

export async function bytesAt(place: ResolvedPlace, { roots, limit }: ReadOptions): Promise<Buffer> {
  const { held, name, real, found } = place
  const shown = pathFromFirstRoot(real, roots)
  if (found === undefined) return fail('FILE_MISSING', { path: shown })
  requireFile(place, shown)
  // Should it be something else by now: opening a pipe does not wait, and a link is not followed.
  const handle = await open(childPath(held, name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    const opened = await handle.stat()
    if (!opened.isFile()) refuseFile(`${shown} changes while it is looked at. Try again later.`)
    await requireInside(handle, real, roots)
    if (opened.size > limit)
      refuseFile(
        `${shown} has ${formatCount(opened.size)} bytes; at most ${formatCount(limit)} are read. Use run_command: head, tail, sed -n, grep.`,
      )
    return await readUpTo(handle, limit)
  } finally {
    await handle.close()
  }
}

/** A file may grow while it is read; those of /proc have no size. */
async function readUpTo(handle: FileHandle, limit: number): Promise<Buffer> {
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

function requireFile({ found }: ResolvedPlace, shown: string): void {
  if (found === undefined || found.isFile()) return
  if (found.isDirectory()) refuseFile(`${shown} is a directory. Use list_directory.`)
  refuseFile(`${shown} is ${fileKind(found)}, not a file, and was left alone.`)
}

function fileKind(found: NonNullable<ResolvedPlace['found']>): string {
  if (found.isFIFO()) return 'a named pipe'
  if (found.isSocket()) return 'a socket'
  return found.isCharacterDevice() || found.isBlockDevice() ? 'a device' : 'something else'
}

function requireWritable(place: ResolvedPlace, roots: readonly Root[]): void {
  const shown = pathFromFirstRoot(place.real, roots)
  if (place.name === '') refuseFile(`${shown} is a directory. Name a file in it.`)
  requireFile(place, shown)
  if (place.found !== undefined && (place.found.mode & 0o222) === 0)
    refuseFile(`${shown} is read-only and was not changed.`)
}

/** With the rights of the file whose place it takes. */
async function writeDraft(draft: string, bytes: Uint8Array, { found }: ResolvedPlace): Promise<void> {
  const handle = await open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o666)
  try {
    await handle.writeFile(bytes)
    if (found !== undefined) await handle.chmod(found.mode & 0o7777)
    await handle.sync()
  } finally {
    await handle.close()
  }
}
