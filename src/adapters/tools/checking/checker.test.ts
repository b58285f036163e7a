import { afterAll, expect, test } from 'vitest'
import { openChecker } from '../../../../test/fixtures/tools/checker.ts'

const one = openChecker({ threads: 1 })
afterAll(() => one.close())

test('a thread that has compiled as many schemas as it keeps is replaced, and what waits for it goes on', async () => {
  const wrong = async (key: number): Promise<string | undefined> =>
    (await one.checkSchema({ key, schema: { type: 'integer' }, value: 'a text' }, {})).wrong
  const first = Array.from({ length: 499 }, (_, key) => key)
  for (const key of first) await wrong(key)
  const all = await Promise.all([499, 500, 501].map(wrong))
  expect(all).toEqual(['they must be integer', 'they must be integer', 'they must be integer'])
})
