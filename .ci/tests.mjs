/**
 * Runs the README's test command; files that fail run once more by themselves, on a machine that is then quiet.
 * `node .ci/tests.mjs RESULTS` writes the counts of both to RESULTS. More than three such files fail at once:
 * then something is wrong with the tests, or with what they hold.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { relative } from 'node:path'

const TOLERATED = 3
const results = process.argv[2] ?? 'tests.json'

/** Runs `npm test` with these arguments: its exit code, and what vitest counted. */
function run(args) {
  rmSync(results, { force: true })
  const reporters = ['--reporter=default', '--reporter=json', '--reporter=./test/second-attempts.ts']
  const { status } = spawnSync('npm', ['test', '--', ...reporters, `--outputFile.json=${results}`, ...args], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  return { status, counted: JSON.parse(readFileSync(results, 'utf8')) }
}

const first = run(['--retry=1'])
if (first.status === 0) process.exit(0)

const failed = first.counted.testResults.filter((file) => file.status === 'failed')
const names = failed.map((file) => relative(process.cwd(), file.name))
// Nothing failed in a file, yet the run did: an error outside any test. It has no second attempt.
if (names.length === 0 || names.length > TOLERATED) process.exit(1)

console.log(`\nOnce more, by themselves:\n  ${names.join('\n  ')}`)
const second = run(['--maxWorkers=1', ...names])
const others = first.counted.numPassedTests - failed.flatMap((file) => file.assertionResults).filter(passed).length
const together = { ...second.counted, numPassedTests: second.counted.numPassedTests + others }
together.numPendingTests += first.counted.numPendingTests
writeFileSync(results, JSON.stringify(together))
process.exit(second.status ?? 1)

function passed(test) {
  return test.status === 'passed'
}
