/** Which models there are, which one is chosen, and what is refused before anything is sent. */
import { createServer, type Server, type ServerResponse } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { listenOnLoopback } from '../../../../test/fixtures/process/loopback-server.ts'
import { startModelServer } from '../../../../test/model-server/server.ts'
import { systemClock } from '../../clock.ts'
import { openModels, type OwnedModels } from './models.ts'
import type { Provider } from '../../../ports/values/provider.ts'

const never = new AbortController().signal
/** A busy machine answers late; what listens nowhere is refused at once. */
const PATIENCE = 20_000

function provider(name: string, more: Partial<Provider>): Provider {
  const common = { title: name, kind: 'openai', url: 'http://127.0.0.1:9/v1', key: undefined, keyNames: [] } as const
  return { ...common, name, headers: {}, models: [], isLocal: true, isConfigured: false, ...more }
}

function opened(providers: readonly Provider[], preset?: string): OwnedModels {
  const models = openModels({ providers, preset, clock: systemClock })
  onTestFinished(() => models.close())
  return models
}

async function modelServer(models: readonly string[], key?: string): Promise<string> {
  const server = await startModelServer([], { models, ...(key !== undefined && { key }) })
  onTestFinished(() => server.close())
  return server.url
}

/** What listens on a usual port, and is no model server. */
async function other(answer: string | undefined): Promise<string> {
  return (await listening((response) => (answer === undefined ? undefined : response.end(answer)))).url
}

async function listening(answer: (response: ServerResponse) => unknown): Promise<{ url: string; left: Promise<void> }> {
  let go: (() => void) | undefined
  const left = new Promise<void>((resolve) => (go = resolve))
  const server: Server = createServer((_request, response) => {
    response.once('close', () => go?.())
    answer(response)
  })
  return { url: `http://127.0.0.1:${await listenOnLoopback(server)}/v1`, left }
}

test('each format lists its models, and reports a wrong key', async () => {
  const url = await modelServer(['big', 'text-embedding-3'], 'right')
  const models = opened([
    provider('o', { url: `${url}/v1`, key: 'right', keyNames: ['O'] }),
    provider('a', { url: `${url}/v1`, key: 'right', keyNames: ['A'], kind: 'anthropic' }),
    provider('g', { url: `${url}/v1beta`, key: 'right', keyNames: ['G'], kind: 'google' }),
    provider('wrong', { url: `${url}/v1`, key: 'wrong', keyNames: ['WRONG_KEY'] }),
    provider('none', { keyNames: ['NONE_KEY'] }),
  ])
  const sources = await models.discover(PATIENCE, never)
  expect(sources.map(({ models: listed, reason }) => listed[0]?.name ?? reason)).toEqual([
    'o:big',
    'a:big',
    'g:big',
    'It refused the key (HTTP 401). Check WRONG_KEY.',
    'Set NONE_KEY to use it.',
  ])
  expect(sources.map(({ models: listed }) => listed.length)).toEqual([1, 1, 1, 0, 0])
})

test.each([
  ['a page', '<html>hello</html>', 'no model server'],
  ['another API', '{"hello":"world"}', 'offers no model'],
  ['an empty list', '{"object":"list","data":[]}', 'offers no model'],
  ['a list of something else', '{"data":[{"name":"x"},7,null]}', 'offers no model'],
])('%s on a usual port is no model server', async (_what, answer, says) => {
  const models = opened([provider('ollama', { url: await other(answer) })])
  expect(await models.discover(PATIENCE, never)).toMatchObject([{ models: [], reason: expect.stringContaining(says) }])
  expect(models.preset).toBeUndefined()
})

test('a server without a model list has the models of the configuration', async () => {
  const url = `${await modelServer(['big'])}/elsewhere`
  const models = opened([provider('house', { url, models: [{ name: 'mine' }] }), provider('bare', { url })])
  expect(await models.discover(PATIENCE, never)).toMatchObject([
    { models: [{ name: 'house:mine' }] },
    { models: [], reason: expect.stringContaining('HTTP 404') },
  ])
})

const SILENT = { models: [], reason: 'What listens there did not answer in time.' }

test('a provider that does not answer is not waited for', async () => {
  const models = opened([provider('ollama', { url: await other(undefined) })])
  expect(await models.discover(100, never)).toMatchObject([SILENT])
})

test('a silent server on a usual port is given up before a slow one that the user has configured', async () => {
  const { url: silent, left } = await listening(() => undefined)
  const { url: slow } = await listening((response) => {
    void left.then(() => response.end('{"data":[{"id":"big"}]}'))
  })
  const models = opened([provider('ollama', { url: silent }), provider('mine', { url: slow, isConfigured: true })])
  expect(await models.discover(PATIENCE, never)).toMatchObject([SILENT, { models: [{ name: 'mine:big' }] }])
})

test('the requested model is chosen first, then a provider with a key, then a server that was found', async () => {
  const url = `${await modelServer(['llama'])}/v1`
  const local = provider('ollama', { url })
  const keyless = provider('openai', { url: 'https://api.openai.com/v1', isLocal: false, keyNames: ['K'] })
  const hosted = { ...keyless, key: 'k', preferred: 'gpt' }
  expect(opened([hosted, local]).preset).toBe('openai:gpt')
  expect(opened([hosted, local], 'ollama:mine').preset).toBe('ollama:mine')
  const models = opened([keyless, local])
  expect(models.preset).toBeUndefined()
  await models.discover(PATIENCE, never)
  expect(models.preset).toBe('ollama:llama')
})

test('a request that cannot be made is refused before anything is sent', async () => {
  const models = opened([provider('openai', { keyNames: ['OPENAI_API_KEY'] })])
  await expect(models.open('openai:gpt')).rejects.toMatchObject({
    code: 'MODEL_KEY_MISSING',
    message: expect.stringContaining('Type export OPENAI_API_KEY=YOUR_KEY'),
  })
  for (const name of ['nobody:gpt', 'gpt', ':gpt', 'openai:', ''])
    await expect(models.open(name)).rejects.toMatchObject({ code: 'MODEL_UNKNOWN' })
  expect(() => models.about('nobody:x')).toThrow('no provider is called')
})

test('capabilities of a model come from the configuration, then from the provider, then from its name', () => {
  const written = { name: 'gpt-4o', contextWindow: 1000, images: false }
  const models = opened([provider('openai', { url: 'https://api.openai.com/v1', isLocal: false, models: [written] })])
  expect(models.about('openai:gpt-4o')).toMatchObject({ contextWindow: 1000, accepts: { image: false } })
  expect(models.about('openai:gpt-5-mini')).toMatchObject({ contextWindow: 400_000, accepts: { image: true } })
  expect(models.about('openai:never-heard-of')).toEqual({
    accepts: { image: false, audio: false, embeddedContext: true },
    efforts: [],
  })
})

test('no context window or price is guessed for a local server, and no price for a reseller', () => {
  const reseller = provider('openrouter', { url: 'https://openrouter.ai/api/v1', isLocal: false })
  const models = opened([provider('ollama', {}), reseller])
  expect(models.about('ollama:gpt-4o-mini')).not.toHaveProperty('contextWindow')
  expect(models.about('openrouter:openai/gpt-4o-mini')).not.toHaveProperty('price')
})
