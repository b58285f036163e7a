/** What becomes of the questions of an MCP server during a call: who asks the user, and what the agent reads of it. */
import { expect, test } from 'vitest'
import { ParleyError } from '../../errors/parley-error.ts'
import type { Elicit } from '../../ports/client-peer.ts'
import { text } from '../../../test/sim/words.ts'
import { ElicitationBroker } from './elicitation-broker.ts'

const form = { mode: 'form', server: 'docs', message: 'Who?', schema: {} } as const
const url = { mode: 'url', server: 'docs', message: 'Sign in', url: 'https://example.com' } as const

test('the user is asked for the server by name, and the answer comes back without what a client keeps', async () => {
  const asked: unknown[] = []
  const elicit: Elicit = {
    form: async (question) => {
      asked.push(question)
      return { action: 'accept', content: { who: 'Ada' } }
    },
    url: async (question) => {
      asked.push(question)
      return { action: 'accept', complete: () => {} }
    },
  }
  const broker = new ElicitationBroker('c1')
  expect(broker.hasAsked).toBe(false)
  expect(await broker.answer(form, elicit)).toEqual({ action: 'accept', content: { who: 'Ada' } })
  expect(await broker.answer(url, elicit)).toStrictEqual({ action: 'accept' })
  expect(asked).toEqual([
    { message: 'docs: Who?', schema: {}, toolCallId: 'c1' },
    { message: 'docs: Sign in', url: 'https://example.com', toolCallId: 'c1' },
  ])
  expect([broker.hasAsked, broker.remarks]).toEqual([true, []])
})

test('where no client can ask, it is declined, and the agent reads so once', async () => {
  const broker = new ElicitationBroker('c1')
  for (const elicit of [undefined, {}]) expect(await broker.answer(form, elicit)).toEqual({ action: 'decline' })
  expect(await broker.answer(url, {})).toEqual({ action: 'decline' })
  expect(broker.remarks).toEqual(
    ['to fill in a form', 'to open a page'].map((what) =>
      text(`docs asked ${what}, which this client does not offer. It was declined.`),
    ),
  )
})

test('a question that fails is cancelled, and the agent reads why, unless another client may answer', async () => {
  const broker = new ElicitationBroker('c1')
  const gone = new ParleyError('CLIENT_GONE', { method: 'elicitation/create' })
  const elicit: Elicit = { form: () => Promise.reject(gone) }
  await expect(broker.answer(form, elicit, (error) => error === gone)).rejects.toBe(gone)
  expect(broker.remarks).toEqual([])
  expect(await broker.answer(form, elicit)).toEqual({ action: 'cancel' })
  expect(broker.remarks).toEqual([text(`docs asked for input and got none. ${gone.message}`)])
})
