/**
 * `npm run coverage`: which share of each room of `src` the tests reach, in lines and branches. It only reports. What tests
 * reach in processes of their own, such as the real binary, is not counted.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'

interface Count {
  readonly total: number
  readonly covered: number
}

type Summary = Readonly<Record<string, { readonly lines: Count; readonly branches: Count }>>

const NOTHING: Count = { total: 0, covered: 0 }

function main(): number {
  const directory = mkdtempSync(join(tmpdir(), 'parley-coverage-'))
  try {
    const coverage = [
      '--coverage.enabled',
      '--coverage.provider=v8',
      '--coverage.include=src/**/*.ts',
      '--coverage.exclude=src/**/*.test.ts',
      '--coverage.reporter=json-summary',
      '--coverage.reportOnFailure',
      `--coverage.reportsDirectory=${directory}`,
    ]
    const args = ['vitest', 'run', '--project=!heavy', ...coverage, ...process.argv.slice(2)]
    const { status } = spawnSync('npx', args, { stdio: ['ignore', 'inherit', 'inherit'] })
    print(JSON.parse(readFileSync(join(directory, 'coverage-summary.json'), 'utf8')) as Summary)
    return status ?? 1
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** A row for each room, and one for all. */
function print(summary: Summary): void {
  const files = Object.entries(summary).filter(([path]) => path !== 'total')
  const names = [...new Set(files.map(([path]) => roomOf(path)))].toSorted()
  const rows = names.map((room) => [room, files.filter(([path]) => roomOf(path) === room)] as const)
  console.log(`\n${'room'.padEnd(28)}   lines  branches`)
  for (const [room, inRoom] of [...rows, ['all of them', files] as const]) {
    const share = (key: 'lines' | 'branches') => percent(inRoom.map(([, counts]) => counts[key]).reduce(add, NOTHING))
    console.log(`${room.padEnd(28)} ${share('lines').padStart(7)} ${share('branches').padStart(9)}`)
  }
}

/** `src/session`; of the adapters, each is a room of its own. */
function roomOf(path: string): string {
  const [, room = '', part = ''] = relative(process.cwd(), path).split('/')
  return room === 'adapters' && !part.includes('.') ? `src/${room}/${part}` : `src/${room}`
}

function add(one: Count, other: Count): Count {
  return { total: one.total + other.total, covered: one.covered + other.covered }
}

function percent({ total, covered }: Count): string {
  return total === 0 ? '–' : `${((100 * covered) / total).toFixed(1)} %`
}

process.exitCode = main()
