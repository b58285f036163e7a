/** Where the tests of the SQLite journal happen. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The worker as `test/build.setup.ts` has built it. */
export const workerUrl = new URL('../../dist/journal-worker.mjs', import.meta.url)

export async function temporaryDirectory(): Promise<{
  readonly directory: string
  readonly clear: () => Promise<void>
}> {
  const directory = await mkdtemp(join(tmpdir(), 'parley-journal-'))
  return { directory, clear: () => rm(directory, { recursive: true, force: true }) }
}
