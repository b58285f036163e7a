/** What only Anthropic's streams do: they begin with a failure, and hold events that nobody has heard of. */
import { expect, test } from 'vitest'
import { sse } from '../../../test/model-server/format.ts'
import { heard } from '../../../test/model-server/heard.ts'

test('events, blocks and deltas of a later day are passed over', async () => {
  const news = [
    { type: 'future_event', data: 1 },
    { type: 'content_block_start', index: 7, content_block: { type: 'future_block', x: 1 } },
    { type: 'content_block_delta', index: 7, delta: { type: 'future_delta', x: 1 } },
    { type: 'content_block_stop', index: 7 },
  ]
  const raw = news.map((event) => sse(event, event.type)).join('')
  const parts = await heard('anthropic', [{ text: 'One, ' }, { raw }, { text: 'two.' }])
  expect(parts.map((part) => (part.kind === 'text' ? part.text : part.kind))).toEqual(['One, ', 'two.', 'end'])
})

test.each([
  ['rate_limit_error', 'MODEL_RATE_LIMIT'],
  ['authentication_error', 'MODEL_KEY'],
  ['overloaded_error', 'MODEL_OVERLOADED'],
  ['api_error', 'MODEL_OVERLOADED'],
])('an answer that begins with %s is that failure', async (type, code) => {
  const body = sse({ type: 'error', error: { type, message: 'No.' } }, 'error')
  const failing = heard('anthropic', [{ status: 200, body, headers: { 'content-type': 'text/event-stream' } }])
  await expect(failing).rejects.toMatchObject({ code })
})
