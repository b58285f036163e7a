/** A primary that is killed under load, and the standby that goes on: `npm run kill -- failover` does it many times. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { failOver, findingsIn } from '../kill/failover/run.ts'
import { Replicas } from './replicas.ts'

let replicas: Replicas

beforeAll(async () => {
  replicas = await Replicas.start()
})

afterAll(() => replicas.close())

test('to a synchronous standby loses nothing that was acknowledged, and stores nothing twice', async () => {
  expect(findingsIn(await failOver(replicas, 1, 'synchronous'), 'synchronous')).toEqual([])
})

test('to a standby that is behind loses entries, and each session that has lost some is named', async () => {
  expect(findingsIn(await failOver(replicas, 2, 'asynchronous'), 'asynchronous')).toEqual([])
})
