/** Pictures and links in prompts, and pictures in results of tools, reach a model that takes them; one that does not is told of in words. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { clientHere } from '../e2e/hosted-server.ts'
import { freshDirectory, newSession } from '../e2e/parley.ts'
import { startModelServer } from '../model-server/server.ts'

const LIMIT = { timeout: 60_000 }
const opened: (() => unknown)[] = []
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close()
})

const PATHS = { openai: '/v1', anthropic: '/v1', google: '/v1beta' } as const
/** One pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

async function given(format: keyof typeof PATHS, images: boolean) {
  const server = await startModelServer([
    [{ call: 'read_file', args: { path: 'a.png' } }],
    [{ text: 'Two pixels.' }],
    [{ text: 'Only words.' }],
  ])
  const home = freshDirectory()
  const cwd = join(home, 'work')
  for (const directory of [cwd, join(home, 'config', 'parley')]) mkdirSync(directory, { recursive: true })
  writeFileSync(join(cwd, 'a.png'), Buffer.from(PNG, 'base64'))
  const provider = `[providers.${format}]\nurl = "${server.url}${PATHS[format]}"\nkey_env = "TEST_KEY"\n`
  const model = `models = [{ name = "scripted", images = ${images} }]\n`
  writeFileSync(join(home, 'config', 'parley', 'parley.toml'), `${provider}${model}`)
  const env = { TEST_KEY: 'x', PARLEY_MODEL_TITLES: 'false' }
  const client = await clientHere({ home, agent: `model:${format}:scripted`, env })
  opened.push(
    () => rmSync(home, { recursive: true, force: true, maxRetries: 5 }),
    () => server.close(),
    () => client.kill(),
  )
  const sessionId = await newSession(client, cwd)
  const ask = (...prompt: object[]) => client.request('session/prompt', { sessionId, prompt })
  return { server, client, ask }
}

const words = { type: 'text', text: 'What is this?' }
const picture = { type: 'image', data: PNG, mimeType: 'image/png' }
const link = { type: 'resource_link', uri: 'file:///tmp/notes.md', name: 'notes.md', description: 'what I wrote' }
const file = {
  type: 'resource',
  resource: { uri: 'file:///tmp/a.md', text: 'the text of a', mimeType: 'text/markdown' },
}

describe.each(['openai', 'anthropic', 'google'] as const)('asked as %s', (format) => {
  test('a model that takes pictures is shown those of prompts and of tools, links and files', LIMIT, async () => {
    const { server, ask } = await given(format, true)
    expect((await ask(words, picture, link, file)).result).toMatchObject({ stopReason: 'end_turn' })
    const first = server.requests[0]?.messages
    const second = JSON.stringify(server.requests[1]?.body)
    expect(first?.at(-1)).toMatchObject({ role: 'user', pictures: ['image/png'] })
    for (const text of [words.text, '[notes.md](file:///tmp/notes.md): what I wrote', 'the text of a'])
      expect(first?.at(-1)?.text).toContain(text)
    // Each kind of provider has its own place for what a tool has shown.
    expect(second.split(PNG)).toHaveLength(3)
  })
})

test(
  'a model that takes no pictures: the prompt is refused in words, a result names what was left out',
  LIMIT,
  async () => {
    const { server, ask } = await given('openai', false)
    const { error } = await ask(words, picture)
    expect(error).toMatchObject({ code: -32602, message: expect.stringMatching(/image/u) })
    expect(server.requests).toHaveLength(0)
    expect((await ask(words, link, file)).result).toMatchObject({ stopReason: 'end_turn' })
    const told = server.requests[1]?.messages.at(-1)
    expect(told?.pictures).toEqual([])
    expect(told?.results[0]?.text).toBe('[image (image/png) left out: this model cannot take it]')
  },
)
