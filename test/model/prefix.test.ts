/** What keeps the prompt caches of providers warm: each request begins, byte for byte, as the one before, whatever happened between them. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { freshDirectory, initialize, newSession, promptOf, startParley } from '../e2e/parley.ts'
import type { RawClient } from '../e2e/raw-client.ts'
import { type ScriptedHttpServer, startHttpServer } from '../fixtures/mcp/http-server.ts'
import type { Asked, Format, Saying } from '../model-server/script.ts'
import { type ModelServer, startModelServer } from '../model-server/server.ts'

const opened: (() => unknown)[] = []
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close()
})

const PATHS = { openai: '/v1', anthropic: '/v1', google: '/v1beta' } as const

interface Scene {
  readonly format: Format
  readonly home: string
  readonly cwd: string
  readonly far: ScriptedHttpServer
  readonly server: ModelServer
}

async function given(format: Format): Promise<Scene> {
  const home = freshDirectory()
  const cwd = join(home, 'work')
  for (const directory of [cwd, join(home, 'config', 'parley')]) mkdirSync(directory, { recursive: true })
  writeFileSync(join(cwd, 'AGENTS.md'), 'Be brief.\n')
  writeFileSync(join(cwd, 'a.txt'), 'hello\n')
  const far = await startHttpServer({ answers: 'stream' })
  const server = await startModelServer(saying)
  const provider = `[providers.${format}]\nurl = "${server.url}${PATHS[format]}"\nkey_env = "TEST_KEY"\nmodels = [{ name = "scripted", context_window = 100000 }]\n`
  writeFileSync(join(home, 'config', 'parley', 'parley.toml'), provider)
  opened.push(
    () => rmSync(home, { recursive: true, force: true, maxRetries: 5 }),
    () => far.close(),
    () => server.close(),
  )
  return { format, home, cwd, far, server }
}

/** Does as the last prompt says; an answer that does not end is for a kill. */
function saying({ messages, tools }: Asked): readonly Saying[] {
  const last = messages.findLastIndex(({ role }) => role === 'user')
  const words = messages[last]?.text ?? ''
  const steps = messages.slice(last).filter(({ role }) => role === 'assistant').length
  const calls: readonly Saying[] = [
    { reasoning: 'I look.' },
    { text: 'Let me look.' },
    { call: 'read_file', args: { path: 'a.txt' } },
    { call: 'far__echo', args: { text: 'x' } },
  ]
  if (words.includes('hang')) return [{ text: 'It begins' }, { silence: true }]
  if (words.includes('until fresh') && !tools.includes('far__fresh') && steps < 100) return [{ sleepMs: 20 }, ...calls]
  return steps === 0 ? calls : [{ text: 'Done.' }, { usage: { input: 100, output: 10 } }]
}

async function start({ format, home }: Scene): Promise<RawClient> {
  const env = { TEST_KEY: 'sk-secret', PARLEY_MODEL_TITLES: 'false' }
  const client = startParley({ home, agent: `model:${format}:scripted`, env })
  opened.push(() => client.kill())
  await initialize(client)
  return client
}

async function says(client: RawClient, sessionId: string, words: string): Promise<void> {
  const { result, error } = await client.request('session/prompt', promptOf(sessionId, words))
  expect({ error, result }).toEqual({ error: undefined, result: { stopReason: 'end_turn' } })
}

test.each(['openai', 'anthropic', 'google'] as const)(
  'a request begins as the one before, after another mode, other tools and kill -9: %s',
  { timeout: 120_000 },
  async (format) => {
    const scene = await given(format)
    const mcpServers = [{ type: 'http', name: 'far', url: scene.far.url, headers: [] }]
    const first = await start(scene)
    const sessionId = await newSession(first, scene.cwd, mcpServers)
    const setMode = (client: RawClient, modeId: string) => client.request('session/set_mode', { sessionId, modeId })
    await setMode(first, 'allow-all')
    await says(first, sessionId, 'one')
    await setMode(first, 'accept-edits')
    await setMode(first, 'allow-all')
    scene.far.addTool('fresh')
    await says(first, sessionId, 'two, until fresh')
    await says(first, sessionId, 'three')
    first.ask('session/prompt', promptOf(sessionId, 'hang'))
    await first.until((message) => JSON.stringify(message).includes('It begins'))
    await first.kill()

    const second = await start(scene)
    await second.request('session/load', { sessionId, cwd: scene.cwd, mcpServers })
    await setMode(second, 'plan')
    await says(second, sessionId, 'four')
    await setMode(second, 'allow-all')
    await says(second, sessionId, 'five')

    const requests = scene.server.requests.map(sentIn)
    expect(new Set(requests.map(({ system }) => system)).size).toBe(1)
    expect(requests.flatMap(({ messages }, at) => startsAs(requests[at - 1]?.messages ?? [], messages, at))).toEqual([])
    expect(requests.flatMap(({ tools }, at) => sameTools(requests[at - 1]?.tools ?? tools, tools, at))).toEqual([])
    const toolLists = new Set(requests.map(({ tools }) => JSON.stringify(tools)))
    expect(toolLists.size).toBe(2)
  },
)

interface Sent {
  readonly system: string
  readonly messages: readonly string[]
  readonly tools: readonly string[]
}

/** As bytes; the marks that tell Anthropic how far to keep a beginning are no part of it. */
function sentIn({ format, body }: Asked): Sent {
  const bytes = (value: unknown) =>
    JSON.stringify(value, (key, one: unknown) => (key === 'cache_control' ? undefined : one))
  const list = (value: unknown) => (value as readonly unknown[]).map(bytes)
  const { system, systemInstruction, contents, messages, tools } = body
  if (format === 'google') {
    const [{ functionDeclarations }] = tools as [{ readonly functionDeclarations: unknown }]
    return { system: bytes(systemInstruction), messages: list(contents), tools: list(functionDeclarations) }
  }
  if (format === 'anthropic') return { system: bytes(system), messages: list(messages), tools: list(tools) }
  return { system: bytes((messages as readonly unknown[])[0]), messages: list(messages), tools: list(tools) }
}

function startsAs(before: readonly string[], now: readonly string[], at: number): readonly string[] {
  const other = before.findIndex((message, place) => message !== now[place])
  return other < 0 ? [] : [`request ${at}, message ${other}: ${before[other]} became ${now[other]}`]
}

/** Those that were there and are there stand in the same order, with the same bytes. */
function sameTools(before: readonly string[], now: readonly string[], at: number): readonly string[] {
  const stayed = now.filter((tool) => before.includes(tool))
  const isSame = JSON.stringify(before.filter((tool) => now.includes(tool))) === JSON.stringify(stayed)
  const isKept = before.every((tool) => now.includes(tool))
  return isSame && isKept ? [] : [`request ${at} has other tools than ${at - 1}`]
}
