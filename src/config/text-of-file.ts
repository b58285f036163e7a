/** Reads a file that anyone may have put there: a pipe, a device or a giant keeps nobody waiting. */
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'

const LARGEST = 1024 * 1024

/** Undefined where there is none. Throws in one sentence why it cannot be read. */
export async function textOfFile(path: string): Promise<string | undefined> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
    throw error
  })
  if (file === undefined) return undefined
  try {
    const found = await file.stat()
    if (!found.isFile()) throw new Error('it is not a file')
    if (found.size > LARGEST) throw new Error('it is larger than 1 MiB')
    return await file.readFile('utf8')
  } finally {
    await file.close()
  }
}
