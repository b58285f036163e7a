/**
 * The simulation as one file: in a bundle every `import()` is over with the next turn of the microtasks, and directories are
 * made up, so that nothing is left to chance. Loaded anew by whoever plays.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'rolldown'
import type * as Play from './play.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

export async function loadSimulation(): Promise<typeof Play> {
  const dir = await mkdtemp(join(root, 'node_modules', '.parley-sim-'))
  try {
    await build({
      cwd: root,
      input: 'test/sim/play.ts',
      platform: 'node',
      resolve: { alias: { 'node:fs/promises': fileURLToPath(new URL('./directories.ts', import.meta.url)) } },
      output: { dir, format: 'esm', entryFileNames: 'play.mjs', codeSplitting: false },
      logLevel: 'silent',
    })
    return (await import(pathToFileURL(join(dir, 'play.mjs')).href)) as typeof Play
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}
