/** The model agent survives kill -9 wherever it strikes: nothing runs twice, and its context is what it was. */
import { expect, test } from 'vitest'
import { killRun } from './kill.ts'

test.each([1, 2, 3])('killed somewhere in a turn, seed %i', { timeout: 120_000 }, async (seed) => {
  expect(await killRun(seed)).toMatchObject({ findings: [] })
})
