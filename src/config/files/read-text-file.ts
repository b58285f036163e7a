/** Reads a file that anyone may have put there: a pipe, a device or a giant keeps nobody waiting. */
import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs'
import { open } from 'node:fs/promises'

const LARGEST = 1024 * 1024

/** Bytes of a project's settings. It takes a moment of everyone's time to parse them, whoever wrote them. */
export const LARGEST_OF_PROJECT = 64 * 1024

const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK

/** Undefined where there is none. Throws in one sentence why it cannot be read. */
export async function textOfFile(path: string, largest = LARGEST): Promise<string | undefined> {
  const file = await open(path, FLAGS).catch(unlessMissing)
  if (file === undefined) return undefined
  try {
    requireReadable(await file.stat(), largest)
    return await file.readFile('utf8')
  } finally {
    await file.close()
  }
}

/** The same for whoever cannot wait. */
export function textOfFileNow(path: string, largest = LARGEST): string | undefined {
  let file: number
  try {
    file = openSync(path, FLAGS)
  } catch (error) {
    return unlessMissing(error)
  }
  try {
    requireReadable(fstatSync(file), largest)
    return readFileSync(file, 'utf8')
  } finally {
    closeSync(file)
  }
}

function unlessMissing(error: unknown): undefined {
  const { code } = error as NodeJS.ErrnoException
  if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error
}

function requireReadable(found: Stats, largest: number): void {
  if (!found.isFile()) throw new Error('it is not a file')
  if (found.size > largest) throw new Error(`it is larger than ${largest / 1024} KiB`)
}
