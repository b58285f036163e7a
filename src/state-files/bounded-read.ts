/** Reads a small file from an untrusted place: a pipe, a device or a huge file neither blocks nor fills the memory. */
import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs'
import { open } from 'node:fs/promises'

const MAX_BYTES = 1024 * 1024

/** Of the settings of a project: parsing them blocks every session, and the user need not have written them. */
export const MAX_PROJECT_BYTES = 64 * 1024

const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK

/** Undefined where there is no such file. Throws an error whose message says why it cannot be read. */
export async function readText(path: string, maxBytes = MAX_BYTES): Promise<string | undefined> {
  const file = await open(path, FLAGS).catch(unlessMissing)
  if (file === undefined) return undefined
  try {
    requireReadable(await file.stat(), maxBytes)
    return await file.readFile('utf8')
  } finally {
    await file.close()
  }
}

/** The same, for callers that must not be interrupted between the read and what they do next. */
export function readTextSync(path: string, maxBytes = MAX_BYTES): string | undefined {
  let file: number
  try {
    file = openSync(path, FLAGS)
  } catch (error) {
    return unlessMissing(error)
  }
  try {
    requireReadable(fstatSync(file), maxBytes)
    return readFileSync(file, 'utf8')
  } finally {
    closeSync(file)
  }
}

function unlessMissing(error: unknown): undefined {
  const { code } = error as NodeJS.ErrnoException
  if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error
}

function requireReadable(found: Stats, maxBytes: number): void {
  if (!found.isFile()) throw new Error('it is not a file')
  if (found.size > maxBytes) throw new Error(`it is larger than ${maxBytes / 1024} KiB`)
}
