/** Reads a file that anyone may have put there: a pipe, a device or a giant keeps nobody waiting. */
import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs'
import { open } from 'node:fs/promises'

const LARGEST = 1024 * 1024
const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK

/** Undefined where there is none. Throws in one sentence why it cannot be read. */
export async function textOfFile(path: string): Promise<string | undefined> {
  const file = await open(path, FLAGS).catch(unlessMissing)
  if (file === undefined) return undefined
  try {
    requireReadable(await file.stat())
    return await file.readFile('utf8')
  } finally {
    await file.close()
  }
}

/** The same for whoever cannot wait. */
export function textOfFileNow(path: string): string | undefined {
  let file: number
  try {
    file = openSync(path, FLAGS)
  } catch (error) {
    return unlessMissing(error)
  }
  try {
    requireReadable(fstatSync(file))
    return readFileSync(file, 'utf8')
  } finally {
    closeSync(file)
  }
}

function unlessMissing(error: unknown): undefined {
  const { code } = error as NodeJS.ErrnoException
  if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error
}

function requireReadable(found: Stats): void {
  if (!found.isFile()) throw new Error('it is not a file')
  if (found.size > LARGEST) throw new Error('it is larger than 1 MiB')
}
