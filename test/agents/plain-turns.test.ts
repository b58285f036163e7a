/** Plain turns of an external agent: what it says is stored as it came, whatever it does wrong. The numbers are cases of its law. */
import { afterEach, expect, test } from 'vitest'
import { until } from '../fixtures/process/running.ts'
import { Stage, prompted } from './stage.ts'

let stage: Stage
const open = (): Stage => (stage = new Stage())

afterEach(() => stage[Symbol.asyncDispose]())

test('[1] text is the same live, in a load and after kill -9, however its bytes arrive', async () => {
  const fake = open().fake({
    prompts: {
      hi: [
        { pieces: 3, moves: [{ chunk: 'Grüße, 世界 — ' }, { chunk: 'in pieces.' }] },
        { glue: [{ chunk: ' The end.' }, { answer: { stopReason: 'end_turn' } }] },
      ],
    },
  })
  const { session, reader } = await stage.open()
  expect(await prompted(session, reader, 'hi')).toMatchObject({ stopReason: 'end_turn' })
  const text = 'Grüße, 世界 — in pieces. The end.'
  expect(reader.text).toBe(text)
  expect((await stage.join(session)).text).toBe(text)
  const after = await stage.killed(session.id)
  expect(after.reader.text).toBe(text)
  await until(() => fake.processes.length === 0)
})
