/** Faults happen when their point is reached for the n-th time, and never otherwise. */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { newDirectory } from '../../test/fixtures/process/new-directory.ts'
import { faultsFrom, noFaults } from './fault.ts'

test('nothing happens in production', () => {
  expect(faultsFrom([])).toBe(noFaults)
  expect(noFaults.at('turn.started')).toBeUndefined()
})

test('a step fails the n-th time, and only that time', () => {
  const faults = faultsFrom([
    { point: 'turn.started', action: 'throw', nth: 2 },
    { point: 'turn.ended', action: 'throw', nth: 1 },
  ])
  expect(faults.at('turn.started')).toBeUndefined()
  expect(() => faults.at('turn.started')).toThrow('turn.started (2)')
  expect(faults.at('turn.started')).toBeUndefined()
  expect(() => faults.at('turn.ended')).toThrow('turn.ended (1)')
})

test('a step is delayed', async () => {
  const faults = faultsFrom([{ point: 'tool.started', action: 'delay', nth: 1, ms: 5 }])
  const held = faults.at('tool.started')
  expect(held).toBeInstanceOf(Promise)
  await held
})

test('a fault that is set later counts steps from then on', () => {
  const during = join(newDirectory(), 'now')
  const faults = faultsFrom([{ point: 'turn.started', action: 'throw', nth: 2, during }])
  for (let n = 0; n < 3; n += 1) expect(faults.at('turn.started')).toBeUndefined()
  writeFileSync(during, '')
  expect(faults.at('turn.started')).toBeUndefined()
  expect(() => faults.at('turn.started')).toThrow('turn.started (2)')
})

test('the process is killed, so that nothing after it happens', () => {
  const program = `
    import { faultsFrom } from ${JSON.stringify(new URL('fault.ts', import.meta.url).href)}
    faultsFrom([{ point: 'turn.ended', action: 'kill', nth: 1 }]).at('turn.ended')
    console.log('still here')`
  const args = ['--import', 'tsx', '--input-type=module', '--eval', program]
  const { signal, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  expect({ signal, stdout }).toEqual({ signal: 'SIGKILL', stdout: '' })
})
