/** The rows of the requirements, and the tests that hold them, say the same of each other. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { featureRows } from './rows/features.ts'
import { protocolRows } from './rows/protocol.ts'
import { securityRows } from './rows/security.ts'

const root = new URL('../..', import.meta.url).pathname
const rows = [...protocolRows, ...featureRows, ...securityRows]
const ids = rows.map(({ id }) => id)

function textOf(file: string): string {
  return existsSync(join(root, file)) ? readFileSync(join(root, file), 'utf8') : ''
}

test('every row is there once, and none of a group is left out', () => {
  expect(ids.length).toBe(new Set(ids).size)
  const most = {
    B: 7,
    L: 7,
    N: 9,
    S: 13,
    H: 12,
    M: 9,
    E: 4,
    T: 12,
    C: 9,
    J: 4,
    P: 6,
    R: 5,
    X: 7,
    U: 9,
    K: 3,
    A: 17,
    Z: 9,
    G: 17,
  }
  const wanted = Object.entries(most).flatMap(([group, count]) =>
    Array.from({ length: count }, (_, n) => `${group}${n + 1}`),
  )
  expect(ids.toSorted()).toEqual(wanted.toSorted())
})

test('every row has a test that holds it, or says why it has none', () => {
  expect(rows.filter(({ held, because }) => held.length === 0 && because === undefined).map(({ id }) => id)).toEqual([])
})

test('every test that a row names is there', () => {
  const missing = rows.flatMap(({ id, held }) =>
    held.flatMap((proof) =>
      'scenario' in proof || textOf(proof[0]).includes(proof[1]) ? [] : [`${id}: ${proof.join(': ')}`],
    ),
  )
  expect(missing).toEqual([])
})
