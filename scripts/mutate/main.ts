/**
 * `npm run mutate`: changes the core in thousands of small ways, one at a time, and runs the tests that reach the change. A
 * mutant that no test notices has survived: either a test is missing, or the change makes no difference. What a module makes
 * when it is loaded, such as a table, is left out: the runner does not put such a mutant in place.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Stryker } from '@stryker-mutator/core'
import { namedMutants } from '../../test/kill/mutants.ts'
import { reportMutants } from '../../test/mutants/series.ts'

const CORE = ['src/session', 'src/edge/acp', 'src/adapters/journal']

const USAGE = `npm run mutate -- [--afresh] [ROOMS…] | --mechanisms
  ROOMS         folders or files of src, each tried by the tests in its folder (${CORE.join(', ')})
  --afresh      tries also those mutants again whose code and tests did not change since the last run
  --mechanisms  takes five mechanisms out instead, each in a copy of the sources: what is published is stored, one owner,
                one run of a prompt that was sent twice, the guard, path rules; names the test that fails then
                (\`npm run kill -- --mutants\` has all mechanisms)`

const REPORT = 'reports/survivors.md'

type Mutant = Awaited<ReturnType<Stryker['runMutationTest']>>[number]

const root = fileURLToPath(new URL('../..', import.meta.url))
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    afresh: { type: 'boolean', default: false },
    mechanisms: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

async function main(): Promise<void> {
  if (values.help) return console.log(USAGE)
  process.chdir(root)
  if (values.mechanisms) {
    process.exitCode = await reportMutants(namedMutants, { jobs: 1, fromSource: true })
    return
  }
  // A mutant may keep a test from removing what it made.
  const directory = mkdtempSync(join(tmpdir(), 'parley-mutate-'))
  process.env['TMPDIR'] = directory
  try {
    const mutants: Mutant[] = []
    for (const room of positionals.length === 0 ? CORE : positionals) mutants.push(...(await mutantsOf(room)))
    report(mutants)
  } finally {
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 })
  }
}

async function mutantsOf(room: string): Promise<readonly Mutant[]> {
  const isFile = room.endsWith('.ts')
  const stryker = new Stryker({
    configFile: 'scripts/mutate/stryker.json',
    mutate: [isFile ? room : `${room}/**/*.ts`, '!**/*.test.ts'],
    testFiles: [`${isFile ? dirname(room) : room}/**/*.test.ts`],
    // What a run learns of another room's tests would replace what is known of this one's.
    incrementalFile: `reports/mutants/${room.replaceAll('/', '-')}.json`,
    force: values.afresh,
  })
  return await stryker.runMutationTest()
}

/** A line for each room on the screen, and every survivor in a file. */
function report(mutants: readonly Mutant[]): void {
  const rooms = [...new Set(mutants.map(roomOf))].toSorted()
  console.log(`\n${'room'.padEnd(40)} killed  survived  unreached   score`)
  for (const room of rooms)
    console.log(
      rowOf(
        room,
        mutants.filter((mutant) => roomOf(mutant) === room),
      ),
    )
  console.log(rowOf('all of them', mutants))
  mkdirSync(dirname(REPORT), { recursive: true })
  writeFileSync(REPORT, rooms.map((room) => chapterOf(room, mutants)).join('\n'))
  console.log(`\nThe survivors are in ${REPORT}.`)
}

function roomOf({ fileName }: Mutant): string {
  return dirname(relative(root, fileName))
}

function rowOf(name: string, mutants: readonly Mutant[]): string {
  const count = (...statuses: readonly string[]) => mutants.filter(({ status }) => statuses.includes(status)).length
  // A mutant that never ends is noticed by a time limit.
  const killed = count('Killed', 'Timeout')
  const survived = count('Survived')
  const unreached = count('NoCoverage')
  const score = (100 * killed) / Math.max(1, killed + survived + unreached)
  const cells = [String(killed).padStart(6), String(survived).padStart(9), String(unreached).padStart(10)]
  return `${name.padEnd(40)} ${cells.join(' ')} ${score.toFixed(1).padStart(5)} %`
}

function chapterOf(room: string, mutants: readonly Mutant[]): string {
  const survivors = mutants.filter(
    (mutant) => roomOf(mutant) === room && ['Survived', 'NoCoverage'].includes(mutant.status),
  )
  return `# ${room}\n\n${survivors.map(lineOf).join('')}`
}

function lineOf({ fileName, location: { start, end }, mutatorName, replacement, status }: Mutant): string {
  const lines = readFileSync(fileName, 'utf8')
    .split('\n')
    .slice(start.line - 1, end.line)
  const last = lines.length - 1
  lines[last] = (lines[last] ?? '').slice(0, end.column - 1)
  lines[0] = (lines[0] ?? '').slice(start.column - 1)
  const where = `${relative(root, fileName)}:${start.line}:${start.column}`
  const reached = status === 'NoCoverage' ? ', reached by no test' : ''
  return `- ${where} ${mutatorName}${reached}\n  - \`${oneLine(lines.join('\n'))}\`\n  - \`${oneLine(replacement)}\`\n`
}

function oneLine(code: string): string {
  return code.replaceAll(/\s+/gu, ' ')
}

await main()
