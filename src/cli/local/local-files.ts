/** The files of this machine for an agent, inside the root set of its session. */
import { constants } from 'node:fs'
import { type FileHandle, mkdir, open, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { ClientFiles, ReadRequest, WriteRequest } from '../../client/incoming/client-methods.ts'
import { fail, isParleyError, reasonOf } from '../../errors/parley-error.ts'
import { pathInside } from './root-set.ts'

/** The longest text that an agent may read or write here. Bytes. */
const MAX_FILE_BYTES = 64 * 1024 * 1024

export const localFiles: ClientFiles = {
  async read(request) {
    const text = await withOpenFile(request, constants.O_RDONLY, readAll)
    return requestedLines(text, request)
  },
  async write(request) {
    await mkdirInside(request)
    // Empties the file only once it is known to be inside the directories.
    await withOpenFile(request, constants.O_WRONLY | constants.O_CREAT, async (file) => {
      await file.truncate(0)
      await file.writeFile(request.content)
    })
  },
}

async function mkdirInside({ path, roots }: WriteRequest): Promise<void> {
  const parent = dirname(await pathInside(path, roots))
  try {
    await mkdir(parent, { recursive: true })
  } catch (error) {
    fail('FILE_UNUSABLE', { path, reason: reasonOf(error) }, error)
  }
}

async function withOpenFile<Result>(
  { path, roots }: { readonly path: string; readonly roots: readonly string[] },
  flags: number,
  use: (file: FileHandle) => Promise<Result>,
): Promise<Result> {
  const real = await pathInside(path, roots)
  try {
    const file = await open(real, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK, 0o666)
    try {
      await requireUnmoved(file, { path, roots })
      return await use(file)
    } finally {
      await file.close()
    }
  } catch (error) {
    if (isParleyError(error)) throw error
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') fail('FILE_MISSING', { path }, error)
    return fail('FILE_UNUSABLE', { path, reason: reasonOf(error) }, error)
  }
}

/** Another process may have replaced a directory by a link since the check, so the opened file itself is checked. */
async function requireUnmoved(
  file: FileHandle,
  { path, roots }: { readonly path: string; readonly roots: readonly string[] },
): Promise<void> {
  const mine = await file.stat()
  const there = await stat(await pathInside(path, roots))
  if (mine.dev !== there.dev || mine.ino !== there.ino) fail('PATH_OUTSIDE_ROOTS', { path })
  if (!mine.isFile()) fail('FILE_UNUSABLE', { path, reason: 'it is not a file' })
}

async function readAll(file: FileHandle): Promise<string> {
  if ((await file.stat()).size > MAX_FILE_BYTES) throw new Error('it is longer than 64 MiB')
  return file.readFile('utf8')
}

/** Lines are counted from 1. */
function requestedLines(text: string, { line, limit }: ReadRequest): string {
  if (line === undefined && limit === undefined) return text
  const from = Math.max(0, (line ?? 1) - 1)
  const lines = text.split(/(?<=\n)/u)
  return lines.slice(from, limit === undefined ? undefined : from + limit).join('')
}
