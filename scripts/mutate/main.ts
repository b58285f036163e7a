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

const USAGE = `npm run mutate -- [--near] [--afresh] [ROOMS…] | --mechanisms
  ROOMS         folders or files of src (${CORE.join(', ')}), each tried by the tests in its
                folder; what these do not notice is tried by those of the whole of these three that it belongs to
  --near        only by the tests in its folder
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
    near: { type: 'boolean', default: false },
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

/** A folder's own tests come first, since they are few; what they do not notice, those of the whole room of the core may. */
async function mutantsOf(room: string): Promise<readonly Mutant[]> {
  const folder = room.endsWith('.ts') ? dirname(room) : room
  const near = await run(folder, room.replaceAll('/', '-'), [room === folder ? `${room}/**/*.ts` : room])
  const left = near.filter(isUnnoticed)
  const whole = CORE.find((one) => folder.startsWith(`${one}/`))
  if (values.near || whole === undefined || left.length === 0) return near
  const far = new Map((await run(whole, `${room.replaceAll('/', '-')}-far`, left.map(placeOf))).map(withChange))
  return near.map((mutant) => (isUnnoticed(mutant) ? (far.get(changeOf(mutant)) ?? mutant) : mutant))
}

async function run(testFolder: string, name: string, mutate: readonly string[]): Promise<readonly Mutant[]> {
  const stryker = new Stryker({
    configFile: 'scripts/mutate/stryker.json',
    plugins: ['@stryker-mutator/vitest-runner', './scripts/mutate/refused-by-types.js'],
    mutate: [...mutate, '!**/*.test.ts'],
    testFiles: [`${testFolder}/**/*.test.ts`],
    // What a run learns of other tests would replace what is known of these.
    incrementalFile: `reports/mutants/${name}.json`,
    force: values.afresh,
  })
  return await stryker.runMutationTest()
}

function isUnnoticed({ status }: Mutant): boolean {
  return status === 'Survived' || status === 'NoCoverage'
}

function withChange(mutant: Mutant): [change: string, Mutant] {
  return [changeOf(mutant), mutant]
}

function changeOf(mutant: Mutant): string {
  return `${placeOf(mutant)} ${mutant.mutatorName} ${mutant.replacement}`
}

/** Stryker reports columns from 1 and takes them from 0. */
function placeOf({ fileName, location: { start, end } }: Mutant): string {
  return `${relative(root, fileName)}:${start.line}:${start.column - 1}-${end.line}:${end.column - 1}`
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
  const survivors = mutants.filter((mutant) => roomOf(mutant) === room && isUnnoticed(mutant))
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
