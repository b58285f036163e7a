/** Cases of Anthropic's streams only: a stream that begins with a failure, and events of unknown types. */
import { expect, test } from 'vitest'
import { sse } from '../../../../test/model-server/format.ts'
import { heard } from '../../../../test/model-server/heard.ts'
import type { ModelMessage } from '../../../ports/model.ts'
import { anthropic } from './anthropic.ts'
import { promptOf } from './prompt.ts'

test('unknown events, blocks and deltas are ignored', async () => {
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
])('an answer that begins with %s fails with it', async (type, code) => {
  const body = sse({ type: 'error', error: { type, message: 'No.' } }, 'error')
  const failing = heard('anthropic', [{ status: 200, body, headers: { 'content-type': 'text/event-stream' } }])
  await expect(failing).rejects.toMatchObject({ code })
})

test('the end of the last request is a cache mark of the next one, whatever the answer to it was', () => {
  const named = {
    name: 'p',
    title: 'P',
    kind: 'anthropic',
    url: 'http://127.0.0.1:9/v1',
    key: 'k',
    keyNames: [],
  } as const
  const provider = { ...named, headers: {}, models: [], isLocal: true, isConfigured: true }
  const takes = { image: true, audio: false, pdf: true }
  const manner = { provider: 'p', takes, picturesInResults: true, thoughts: true, turns: false }
  const traits = { accepts: { image: true, audio: false, embeddedContext: true }, efforts: [] }
  const speaking = { provider, name: 'scripted', fetch, traits }
  const marks = (messages: readonly ModelMessage[]) => {
    const request = { system: 's', messages, tools: [], session: 's', signal: new AbortController().signal }
    const { prompt } = anthropic(speaking).dressed({ prompt: promptOf(request, manner) }, request)
    return prompt.flatMap(({ providerOptions }, at) => (providerOptions === undefined ? [] : [at]))
  }
  const user = { role: 'user', content: [{ type: 'text', text: 'Go.' }] } as const
  const ids = Array.from({ length: 30 }, (_, at) => `c${at}`)
  const parts = ids.map((id) => ({ kind: 'call', id, name: 'look', args: {} }) as const)
  const calling: ModelMessage = { role: 'assistant', parts }
  const told: ModelMessage = {
    role: 'tool',
    results: ids.map((id) => ({ id, name: 'look', content: [], isError: true })),
  }
  expect(marks([user])).toEqual([0, 1])
  expect(marks([user, calling, told])).toEqual([0, 1, 3])
  expect(marks([user, calling, told, user])).toEqual([0, 1, 4])
  expect(marks([user, user])).toEqual([0, 2])
})
