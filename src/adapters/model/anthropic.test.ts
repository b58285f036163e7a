/** What only Anthropic's streams do: they begin with a failure, and hold events that nobody has heard of. */
import { afterEach, expect, test } from 'vitest'
import { startModelServer } from '../../../test/model-server/server.ts'
import type { Saying } from '../../../test/model-server/script.ts'
import { sse } from '../../../test/model-server/format.ts'
import type { ModelPart } from '../../ports/model.ts'
import { systemClock } from '../clock.ts'
import { openModels } from './models.ts'

const opened: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close()
})

/** All that a model says to one request. */
async function heard(say: readonly Saying[]): Promise<readonly ModelPart[]> {
  const server = await startModelServer([say])
  const url = `${server.url}/v1`
  const provider = {
    name: 'p',
    title: 'P',
    kind: 'anthropic',
    url,
    key: 'k',
    keyNames: [],
    headers: {},
    models: [],
  } as const
  const models = openModels({ providers: [{ ...provider, isConfigured: true }], clock: systemClock })
  opened.push(
    () => server.close(),
    () => models.close(),
  )
  const model = await models.open('p:scripted')
  const { signal } = new AbortController()
  const parts: ModelPart[] = []
  const messages = [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }] as const
  for await (const part of model.stream({ system: '', messages, tools: [], session: 's', signal })) parts.push(part)
  return parts
}

test('events, blocks and deltas of a later day are passed over', async () => {
  const news = [
    { type: 'future_event', data: 1 },
    { type: 'content_block_start', index: 7, content_block: { type: 'future_block', x: 1 } },
    { type: 'content_block_delta', index: 7, delta: { type: 'future_delta', x: 1 } },
    { type: 'content_block_stop', index: 7 },
  ]
  const raw = news.map((event) => sse(event, event.type)).join('')
  const parts = await heard([{ text: 'One, ' }, { raw }, { text: 'two.' }])
  expect(parts.map((part) => (part.kind === 'text' ? part.text : part.kind))).toEqual(['One, ', 'two.', 'end'])
})

test.each([
  ['rate_limit_error', 'MODEL_RATE_LIMIT'],
  ['authentication_error', 'MODEL_KEY'],
  ['overloaded_error', 'MODEL_OVERLOADED'],
  ['api_error', 'MODEL_OVERLOADED'],
])('an answer that begins with %s is that failure', async (type, code) => {
  const body = sse({ type: 'error', error: { type, message: 'No.' } }, 'error')
  const failing = heard([{ status: 200, body, headers: { 'content-type': 'text/event-stream' } }])
  await expect(failing).rejects.toMatchObject({ code })
})
