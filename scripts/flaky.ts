/** `npm run flaky`: repeats the tests without a change, and names every one that ever failed. Nothing is tried twice. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'

const USAGE = `npm run flaky -- [--runs N] [--seed S] [FILES…]
  --runs  how many times (20)
  --seed  the seed of the first run, which orders the files; the next run has the next seed (random)
  FILES   parts of the paths of test files, also of heavy ones (those of npm test)`

/** What vitest's JSON reporter writes, as far as it is read here. */
interface Report {
  readonly numPassedTests: number
  readonly testResults: readonly {
    readonly name: string
    readonly status: string
    readonly message: string
    readonly assertionResults: readonly {
      readonly fullName: string
      readonly status: string
      readonly failureMessages?: readonly string[]
    }[]
  }[]
}

interface Failure {
  readonly test: string
  readonly seed: number
  readonly message: string
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    runs: { type: 'string', default: '20' },
    seed: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})

function main(): number {
  if (values.help) {
    console.log(USAGE)
    return 0
  }
  const runs = Number(values.runs)
  const first = Number(values.seed ?? Math.floor(Math.random() * 1_000_000))
  const failures: Failure[] = []
  for (let run = 0; run < runs; run += 1) {
    const seed = first + run
    const began = performance.now()
    const { passed, failed } = runOnce(seed)
    failures.push(...failed)
    const seconds = ((performance.now() - began) / 1_000).toFixed(0)
    console.log(`run ${run + 1} of ${runs}, seed ${seed}: ${passed} passed, ${failed.length} failed, in ${seconds} s`)
    for (const failure of failed) console.log(`  ${failure.test}\n${indented(failure.message)}`)
  }
  return summarize(failures, runs)
}

function runOnce(seed: number): { readonly passed: number; readonly failed: readonly Failure[] } {
  const directory = mkdtempSync(join(tmpdir(), 'parley-flaky-'))
  const results = join(directory, 'results.json')
  try {
    const order = ['--sequence.shuffle.files', `--sequence.seed=${seed}`]
    const reporters = ['--reporter=json', `--outputFile.json=${results}`, '--reporter=dot']
    const files = positionals.length === 0 ? ['--project=!heavy'] : positionals
    const { status, stdout, stderr } = spawnSync('npx', ['vitest', 'run', ...order, ...reporters, ...files], {
      encoding: 'utf8',
      maxBuffer: Infinity,
    })
    const report = readReport(results)
    const failed = report === undefined ? [] : [...failuresIn(report, seed)]
    const outside = errorsOutside(stdout + stderr)
    // No test failed, yet the run did: an error outside any test, or no run at all.
    if (status !== 0 && (failed.length === 0 || outside !== undefined))
      failed.push({ test: 'outside any test', seed, message: outside ?? stdout + stderr })
    return { passed: report?.numPassedTests ?? 0, failed }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

function readReport(path: string): Report | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Report
  } catch {
    // Vitest did not come to its end.
    return undefined
  }
}

/** Why a test never ended stands here only. */
function errorsOutside(said: string): string | undefined {
  const at = said.indexOf('Unhandled Errors')
  return at === -1 ? undefined : said.slice(at)
}

function failuresIn({ testResults }: Report, seed: number): readonly Failure[] {
  return testResults.flatMap(({ name, status, message, assertionResults }) => {
    const file = relative(process.cwd(), name)
    const failed = assertionResults.filter((test) => test.status !== 'passed')
    // A file fails without a failed test when it cannot be loaded.
    if (failed.length === 0) return status === 'passed' ? [] : [{ test: file, seed, message }]
    return failed.map(({ fullName, status, failureMessages = [status] }) => ({
      test: `${file} > ${fullName}`,
      seed,
      message: failureMessages.join('\n') || status,
    }))
  })
}

/** Prints who failed, how often and with which seeds; gives the exit code. */
function summarize(failures: readonly Failure[], runs: number): number {
  const names = [...new Set(failures.map(({ test }) => test))]
  console.log(
    `\n${names.length === 0 ? 'Nothing' : names.length} ever failed in ${runs} ${runs === 1 ? 'run' : 'runs'}`,
  )
  for (const name of names) {
    const seeds = failures.filter(({ test }) => test === name).map(({ seed }) => seed)
    console.log(`  ${name}\n    ${seeds.length} times, with seeds ${seeds.join(', ')}`)
  }
  return names.length === 0 ? 0 : 1
}

function indented(text: string): string {
  const lines = text.split('\n').filter((line) => !line.includes('/node_modules/'))
  return lines
    .slice(0, 40)
    .map((line) => `    ${line}`)
    .join('\n')
}

process.exitCode = main()
