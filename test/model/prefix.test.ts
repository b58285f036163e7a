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

const PATHS = { openai: '/v1', anthropic: '/v1', google: '/v1beta', responses: '/v1' } as const

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
  // Where Anthropic is told that nothing was answered, one message holds several prompts.
  const words = messages[last]?.text.replace(/^.*\]/su, '') ?? ''
  const steps = messages.slice(last).filter(({ role }) => role === 'assistant').length
  const calls: readonly Saying[] = [
    { reasoning: 'I look.' },
    { text: 'Let me look.' },
    { call: 'read_file', args: { path: 'a.txt' } },
    { call: 'far__echo', args: { text: 'x' } },
  ]
  if (words.includes('mute') && (!words.includes('look') || steps > 0)) return [{ silence: true }]
  if (words.endsWith('refuse')) return [{ fail: 'invalid' }]
  if (words.endsWith('nothing')) return [{ usage: { input: 100, output: 1 } }]
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

test.each(['openai', 'anthropic', 'google'] as const)(
  'a request begins as the one before, and roles take turns, where nothing was answered: %s',
  { timeout: 120_000 },
  async (format) => {
    const scene = await given(format)
    const { server, cwd } = scene
    const mcpServers = [{ type: 'http', name: 'far', url: scene.far.url, headers: [] }]
    const first = await start(scene)
    const sessionId = await newSession(first, cwd, mcpServers)
    await first.request('session/set_mode', { sessionId, modeId: 'allow-all' })
    const cancels = async (words: string, count: number) => {
      const ended = first.request('session/prompt', promptOf(sessionId, words))
      await server.request(server.requests.length + count - 1)
      first.notify('session/cancel', { sessionId })
      expect((await ended).result).toMatchObject({ stopReason: 'cancelled' })
      await server.quiet()
    }
    /** A request goes out while what was asked is being stored; what comes behind it there is answered after it. */
    const stored = async (client: RawClient) => {
      for (const modeId of ['accept-edits', 'allow-all'])
        await client.request('session/set_mode', { sessionId, modeId })
    }
    await cancels('mute', 1)
    await cancels('mute again', 1)
    const refused = await first.request('session/prompt', promptOf(sessionId, 'refuse'))
    expect(refused.error?.message).toContain('refused the request')
    await says(first, sessionId, 'nothing')
    await cancels('look, then mute', 2)
    await says(first, sessionId, 'one')
    first.ask('session/prompt', promptOf(sessionId, 'look, then mute until killed'))
    await server.request(server.requests.length + 1)
    await first.kill()
    await server.quiet()

    const second = await start(scene)
    await second.request('session/load', { sessionId, cwd, mcpServers })
    second.ask('session/prompt', promptOf(sessionId, 'mute until killed'))
    await server.request(server.requests.length)
    await stored(second)
    await second.kill()
    await server.quiet()

    const third = await start(scene)
    await third.request('session/load', { sessionId, cwd, mcpServers })
    await says(third, sessionId, 'two')

    const requests = server.requests.map(sentIn)
    expect(requests).toHaveLength(13)
    expect(requests.flatMap(({ messages }, at) => startsAs(requests[at - 1]?.messages ?? [], messages, at))).toEqual([])
    expect(server.requests.flatMap(outOfTurn)).toEqual([])
    expect(server.requests.flatMap((asked, at) => unmarked(server.requests[at - 1], asked))).toEqual([])
  },
)

type Message = { readonly role: string; readonly content?: unknown; readonly parts?: unknown }

/** What strict providers refuse: somebody speaks twice in a row, be it that tools spoke for them. */
function outOfTurn({ body, index }: Asked): readonly string[] {
  const said = (body['messages'] ?? body['contents']) as readonly Message[]
  const roles = said.map(({ role }) => role)
  return roles.flatMap((role, at) => {
    const former = roles[at - 1]
    return role === 'user' && (former === 'user' || former === 'tool')
      ? [`request ${index}: ${role} after ${former}`]
      : []
  })
}

/** Anthropic finds again what was marked then and is at most twenty blocks before a mark of now. */
function unmarked(before: Asked | undefined, now: Asked): readonly string[] {
  if (before === undefined || now.format !== 'anthropic') return []
  const end = blocksOf(before).length
  const marks = blocksOf(now).flatMap((block, at) => ('cache_control' in block ? [at + 1] : []))
  return marks.some((mark) => mark >= end && mark - end < 20) ? [] : [`request ${now.index}: ${end} in ${marks.join()}`]
}

function blocksOf({ body }: Asked): readonly object[] {
  const messages = body['messages'] as readonly { readonly role: string; readonly content: readonly object[] }[]
  return messages.flatMap(({ role, content }) => content.map((block) => ({ role, ...block })))
}

interface Sent {
  readonly system: string
  readonly messages: readonly string[]
  readonly tools: readonly string[]
}

/**
 * As bytes; the marks that tell Anthropic how far to keep a beginning are no part of it, nor where it is cut into messages:
 * what somebody says twice in a row is one message there, and what is kept are its blocks.
 */
function sentIn(asked: Asked): Sent {
  const { format, body } = asked
  const bytes = (value: unknown) =>
    JSON.stringify(value, (key, one: unknown) => (key === 'cache_control' ? undefined : one))
  const list = (value: unknown) => (value as readonly unknown[]).map(bytes)
  const { system, systemInstruction, contents, messages, tools } = body
  if (format === 'google') {
    const [{ functionDeclarations }] = tools as [{ readonly functionDeclarations: unknown }]
    return { system: bytes(systemInstruction), messages: list(contents), tools: list(functionDeclarations) }
  }
  if (format === 'anthropic') return { system: bytes(system), messages: list(blocksOf(asked)), tools: list(tools) }
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
