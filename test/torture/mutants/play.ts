/** Plays mutants: each in a copy of the sources, against the one test that must notice it. */
import { spawn } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Mutant } from './mutant.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** `noticed` is what must be; `broken` ran no test at all and says nothing. */
export type Verdict = 'noticed' | 'survived' | 'broken'

/** For a mutant that hangs, which is a way of being noticed; a test that waits in vain ends sooner. */
const LONGEST_MS = 120_000
const TEST_MS = 25_000
/** Nothing is built: these tests run from source. */
const CONFIG = `export default {
  cacheDir: '.vite',
  test: { testTimeout: ${TEST_MS}, hookTimeout: ${TEST_MS}, expect: { poll: { timeout: ${TEST_MS} } }, maxWorkers: 1 },
}
`

export interface Bed {
  /** With the sources as they are where no mutant is named: then the test must pass, which is `survived`. */
  play(test: Mutant['test'], mutant?: Mutant): Promise<Verdict>
  close(): void
}

/** A copy of the sources in which one mutant after another is played. */
export function openBed(): Bed {
  const directory = mkdtempSync(join(tmpdir(), 'parley-mutants-'))
  for (const name of [
    'src',
    'test',
    'scripts',
    'package.json',
    'tsconfig.base.json',
    'tsconfig.json',
    'tsconfig.test.json',
    'rolldown.config.ts',
  ])
    cpSync(join(root, name), join(directory, name), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'))
  mkdirSync(join(directory, 'tmp'))
  writeFileSync(join(directory, 'vitest.config.mjs'), CONFIG)

  async function play(test: Mutant['test'], mutant?: Mutant): Promise<Verdict> {
    if (mutant === undefined) return await run(directory, test)
    const path = join(directory, 'src', mutant.file)
    const text = readFileSync(path, 'utf8')
    writeFileSync(path, mutated(text, mutant))
    try {
      return await run(directory, test)
    } finally {
      writeFileSync(path, text)
    }
  }

  return { play, close: () => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }) }
}

/** Throws where the source has moved on. */
function mutated(text: string, { file, from, to }: Mutant): string {
  const parts = text.split(from)
  if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} times what a mutant changes: ${from}`)
  return parts.join(to)
}

async function run(directory: string, [file, name]: Mutant['test']): Promise<Verdict> {
  const told = join(directory, 'result.json')
  rmSync(told, { force: true })
  const words = ['run', file, '-t', literally(name), '--reporter=json', `--outputFile=${told}`]
  const hung = await ended(join(directory, 'node_modules/.bin/vitest'), words, directory)
  if (hung) return 'noticed'
  return verdictIn(readFileSync(told, 'utf8'))
}

/** True when it had to be ended. */
function ended(command: string, words: readonly string[], cwd: string): Promise<boolean> {
  const env = { ...process.env, TMPDIR: join(cwd, 'tmp') }
  const child = spawn(command, words, { cwd, env, stdio: 'ignore', detached: true })
  return new Promise((resolve) => {
    let hung = false
    const timer = setTimeout(() => {
      hung = true
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    }, LONGEST_MS)
    child.once('exit', () => {
      clearTimeout(timer)
      resolve(hung)
    })
  })
}

interface Told {
  readonly success: boolean
  readonly numFailedTests: number
  readonly numPassedTests: number
}

/** An error that no test waited for counts as well: the run fails by it. */
function verdictIn(text: string): Verdict {
  const { success, numFailedTests, numPassedTests } = JSON.parse(text) as Told
  if (numFailedTests + numPassedTests === 0) return 'broken'
  return numFailedTests > 0 || !success ? 'noticed' : 'survived'
}

function literally(name: string): string {
  return name.replace(/[.*+?^${}()|[\]\\]/gu, String.raw`\$&`)
}
