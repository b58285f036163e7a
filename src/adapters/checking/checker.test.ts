import type { Worker } from 'node:worker_threads'
import { afterAll, expect, test } from 'vitest'
import { openChecker } from '../../../test/fixtures/tools/checker.ts'

const PATIENT = { jobMs: 60_000, waitMs: 60_000, threads: 1 }
const one = openChecker(PATIENT)
afterAll(() => one.close())

test('a thread that has compiled its limit of schemas is replaced, and waiting checks continue', async () => {
  const wrong = async (key: number): Promise<string | undefined> =>
    (await one.checkSchema({ key, schema: { type: 'integer' }, value: 'a text' }, {})).wrong
  const first = Array.from({ length: 499 }, (_, key) => key)
  for (const key of first) await wrong(key)
  const all = await Promise.all([499, 500, 501].map(wrong))
  expect(all).toEqual(['they must be integer', 'they must be integer', 'they must be integer'])
})

test('a thread that died while idle is replaced', async () => {
  const threads: Worker[] = []
  const note = (thread: Worker) => threads.push(thread)
  process.on('worker', note)
  const other = openChecker(PATIENT)
  const check = () => other.checkSchema({ key: 1, schema: { type: 'integer' }, value: 'a text' }, {})
  await check()
  process.off('worker', note)
  await threads[0]?.terminate()
  expect(await check()).toEqual({ wrong: 'they must be integer' })
  await other.close()
})
