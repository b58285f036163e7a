/** What must be true of directories before they are served. */
import { opendir } from 'node:fs/promises'
import { fail } from '../errors/parley-error.ts'

/** Throws DIRECTORY_MISSING. */
export async function checkDirectories(directories: readonly string[]): Promise<void> {
  const what = 'A directory to serve,'
  if (directories.length === 0) fail('DIRECTORY_MISSING', { what: 'The directory to serve', path: '(none given)' })
  for (const path of directories) {
    const directory = await opendir(path).catch((error: unknown) => fail('DIRECTORY_MISSING', { what, path }, error))
    await directory.close()
  }
}
