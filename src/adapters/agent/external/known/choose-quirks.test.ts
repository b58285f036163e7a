/** Which quirk row holds for which version. */
import { describe, expect, test } from 'vitest'
import { SAFE } from '../quirks.ts'
import { chooseQuirks } from './choose-quirks.ts'
import { type QuirkRow, quirkRows } from './quirk-rows.ts'
import { startTable } from './start-table.ts'

const row = (from: string | undefined, to: string, lateMs: number): QuirkRow => ({
  agent: 'a',
  ...(from !== undefined && { from }),
  to,
  fields: { lateMs },
  notes: [],
  proof: 'measured',
  date: '2026-11',
})

const rows = [row(undefined, '1.9.9', 1), row('2.0.0', '3.5.0', 2), row('3.0.0', '3.1.0', 3)]
const lateMs = (version?: string) => chooseQuirks(['a'], version, rows).quirks.lateMs

describe('a quirk row', () => {
  test.each([
    ['1.0.0', 1],
    ['2.0.0', 2],
    ['3.0.5', 3],
    ['3.2.0', 2],
    ['v3.5.0', 2],
  ])('is chosen for %s within its range, the most specific first', (version, expected) => {
    expect(lateMs(version)).toBe(expected)
    expect(chooseQuirks(['a'], version, rows).isVerified).toBe(true)
  })

  test.each(['9.0.0', undefined])('beyond the last version that was tried is marked as unverified: %s', (version) => {
    expect(chooseQuirks(['a'], version, rows)).toMatchObject({ quirks: { lateMs: 2 }, isVerified: false })
  })

  test('an unknown agent gets the safe row', () => {
    expect(chooseQuirks(['b'], '1.0.0', rows)).toEqual({ quirks: SAFE, isVerified: false })
  })
})

test('the copy that goose makes for a fork is not used, because it is empty', () =>
  expect(chooseQuirks(['goose'], '1.46.0').quirks).toEqual({ ...SAFE, useFork: false }))

test('no two rows of an agent overlap without one being more specific', () => {
  const keys = quirkRows.map(({ agent, from, to }) => `${agent} ${from ?? ''} ${to ?? ''}`)
  expect(new Set(keys).size).toBe(keys.length)
})

test('every row belongs to an agent that can be named, or to one that was replaced', () => {
  const names = new Set(startTable.flatMap(({ id, info }) => [id, info]))
  expect(quirkRows.map(({ agent }) => agent).filter((agent) => !names.has(agent) && agent !== 'codex-acp')).toEqual([])
})

test('no two agents of the start table have the same name', () => {
  const names = startTable.flatMap(({ id, registryId = [], aliases = [] }) => [id, ...aliases].concat(registryId))
  expect(new Set(names).size).toBe(names.length)
})

test('a package is always named with an exact version', () => {
  const packages = startTable.flatMap(({ npm }) => (npm ? [`x@${npm.version}`].concat(npm.with ?? []) : []))
  expect(packages.filter((name) => !/^@?[^@]+@\d+\.\d+\.\d+$/u.test(name))).toEqual([])
})
