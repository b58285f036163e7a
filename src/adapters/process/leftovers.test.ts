import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { afterEach, expect, test } from 'vitest'
import { runs } from '../../../test/fixtures/process/running.ts'
import { killLeftovers } from './leftovers.ts'

/** Not that of the same test elsewhere on this machine. */
const home = `ledger${process.pid}`
const started: ChildProcess[] = []
afterEach(() => started.splice(0).forEach((child) => child.kill('SIGKILL')))

async function sleeper(marker: string): Promise<ChildProcess> {
  const child = spawn('sleep', ['1000'], {
    env: { PATH: process.env.PATH ?? '', PARLEY_CHILD: marker },
    stdio: 'ignore',
  })
  started.push(child)
  await once(child, 'spawn')
  return child
}

test('a new owner ends the processes that earlier owners of its state directory left, and no others', async () => {
  const old = await sleeper(`${home}-old`)
  const own = await sleeper(`${home}-new`)
  const foreign = await sleeper(`${home}book-old`)
  const ended = once(old, 'exit')
  expect(await killLeftovers({ home, id: 'new' })).toBe(1)
  expect((await ended)[1]).toBe('SIGKILL')
  expect([runs(Number(own.pid)), runs(Number(foreign.pid))]).toEqual([true, true])
  expect(await killLeftovers({ home, id: 'new' })).toBe(0)
})
