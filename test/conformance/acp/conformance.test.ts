/** Parley held to ACP v1: every case over both transports, and every fault noticed. `npm run conformance` prints the table. */
import { readFileSync, readdirSync } from 'node:fs'
import { afterAll, describe, expect, test } from 'vitest'
import { cases } from './cases/every-case.ts'
import { laws } from './laws.ts'
import type { Played } from './play.ts'
import { agentRows, clientRows } from './rows.ts'
import { isCaught, lawResults, playAll } from './run.ts'
import { embedded, relay, socket } from './target.ts'

/** Whatever takes longer hangs, on a loaded machine too. Milliseconds. */
const PATIENCE = 60_000
/** Decisions that no case can wait for. */
const TAKES_A_MINUTE = ['An unused session']
const targets = [embedded(), relay(), socket()]

afterAll(() => Promise.all(targets.map((target) => target.close())))

describe('the requirements', () => {
  test('that the standard has for agents have a case each', () => {
    const tried = new Set([...cases.map(({ row }) => row), ...laws.map(({ row }) => row)])
    expect(Object.keys(agentRows).filter((row) => !tried.has(row))).toEqual([])
    expect([...tried].filter((row) => agentRows[row] === undefined)).toEqual([])
  })

  test('that the standard has for clients are named by a test each', () => {
    const folder = new URL('../client/', import.meta.url)
    const files = readdirSync(folder).filter((name) => name.endsWith('.test.ts'))
    const words = files.map((name) => readFileSync(new URL(name, folder), 'utf8')).join('\n')
    const isNamed = (row: string): boolean => new RegExp(`test\\(\n?.*\\b${row}\\b`, 'u').test(words)
    expect(Object.keys(clientRows).filter((row) => !isNamed(row))).toEqual([])
  })

  test('have cases of different names', () => {
    const names = cases.map(({ row, name, script }) => `${row} ${name} ${script === undefined}`)
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([])
  })
})

describe('docs/internals/protocol.md', () => {
  const page = readFileSync(new URL('../../../docs/internals/protocol.md', import.meta.url), 'utf8')
  // A name may be wrapped over two lines of the page.
  const named = (text: string) => [...text.replaceAll(/\s+/gu, ' ').matchAll(/`(A-[A-Z]+-\d+)`: “([^”]+)”/gu)]
  const decisions = ['What an agent asks of a client', 'What the standard leaves open'].flatMap((heading) =>
    (page.split(`## ${heading}\n`)[1] ?? '')
      .split('\n## ', 1)
      .flatMap((section) => section.split(/^(?=\*\*)/mu).slice(1)),
  )

  test('names cases that exist', () => {
    const known = new Set(cases.map(({ row, name }) => `${row} ${name}`))
    const gone = named(page).filter(([, row, name]) => !known.has(`${row} ${name}`))
    expect(gone.map(([text]) => text)).toEqual([])
  })

  test('has a case for each decision', () => {
    const titles = decisions.filter((text) => named(text).length === 0).map((text) => text.split('**')[1])
    expect(decisions.length).toBeGreaterThan(30)
    expect(titles).toEqual(TAKES_A_MINUTE)
  })
})

describe.each(targets.slice(0, 2))('$name', (target) => {
  test('passes every case, and breaks no law in any conversation', async () => {
    const played = await playAll({ target, cases, jobs: 4, patience: PATIENCE })
    expect(played.flatMap(complaint)).toEqual([])
    expect(lawResults(played).flatMap(({ row, broken }) => broken.map((why) => `${row}: ${why}`))).toEqual([])
  }, 900_000)
})

test('each case notices its fault', async () => {
  const target = targets[2] ?? socket()
  const played = await playAll({ target, cases, jobs: 6, patience: PATIENCE, mutants: true })
  expect(played.filter((one) => !isCaught(one)).map(({ one, fired }) => `${one.row} ${one.name}: ${fired}`)).toEqual([])
}, 900_000)

function complaint({ one, verdict }: Played): readonly string[] {
  if (verdict.result === 'fail') return [`${one.row} ${one.name}: ${verdict.why}`]
  const mayBeAbsent = verdict.result === 'pass' || one.company === true
  return mayBeAbsent ? [] : [`${one.row} ${one.name}: ${verdict.result}, ${verdict.why}`]
}
