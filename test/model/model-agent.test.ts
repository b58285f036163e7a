/** The model agent in the real binary, asked over real HTTP in the formats of three kinds of providers. */
import { mkdirSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { endServers, jsonLines, parley } from '../e2e/cli.ts'
import { textOf, updatesIn } from '../e2e/message.ts'
import { clientHere } from '../e2e/hosted-server.ts'
import { freshDirectory, newSession, promptOf } from '../e2e/parley.ts'
import type { RawSocket } from '../e2e/raw-socket.ts'
import { startHttpServer } from '../fixtures/mcp/http-server.ts'
import type { Saying, Script } from '../model-server/script.ts'
import { PerTest } from '../fixtures/process/per-test.ts'
import { type ModelServer, startModelServer } from '../model-server/server.ts'

endServers()

const opened = new PerTest<() => unknown>(async (all) => {
  for (const close of all.toReversed()) await close()
})
opened.closeAfterEach()

const formats = ['openai', 'anthropic', 'google'] as const

/** A model server, and a machine whose configuration knows it by the three names. */
async function given(script: Script, contextWindow = 10_000) {
  const server = await startModelServer(script)
  const home = freshDirectory()
  const cwd = join(home, 'work')
  mkdirSync(cwd)
  mkdirSync(join(home, 'config', 'parley'), { recursive: true })
  const provider = (name: string, path: string) => `[providers.${name}]
url = "${server.url}${path}"
key_env = "TEST_KEY"
models = [{ name = "scripted", context_window = ${contextWindow}, price = { input = 10, output = 100 } }]
`
  const [openai, anthropic, google] = ['/v1', '/v1', '/v1beta'].map((path, at) => provider(formats[at] ?? '', path))
  writeFileSync(join(home, 'config', 'parley', 'parley.toml'), `${openai}${anthropic}${google}`)
  opened.add(() => server.close())
  opened.add(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }))
  const env = { TEST_KEY: 'sk-very-secret', PARLEY_MODEL_TITLES: 'false' }
  return { server, home, cwd, env }
}

/** The journal, the log and whatever else was written. */
function filesWith(secret: string, directory: string): readonly string[] {
  const all = readdirSync(directory, { recursive: true, withFileTypes: true })
  const files = all.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name))
  expect(files.length).toBeGreaterThan(2)
  return files.filter((file) => readFileSync(file).includes(secret))
}

type Given = Awaited<ReturnType<typeof given>>

async function client({ home, env }: Given, model = 'openai:scripted'): Promise<RawSocket> {
  const raw = await clientHere({ home, agent: `model:${model}`, env })
  opened.add(() => raw.kill())
  return raw
}

function said(raw: RawSocket): string {
  return updatesIn(raw.received)
    .filter(({ update }) => update.sessionUpdate === 'agent_message_chunk')
    .map(textOf)
    .join('')
}

const looks: Script = [
  [
    { reasoning: 'Hm.' },
    { text: ['Let me ', 'look. '] },
    { call: 'read_file', args: { path: 'a.txt' } },
    { usage: { input: 100, output: 10 } },
  ],
  [{ text: 'It says hello.' }, { usage: { input: 200, output: 20 } }],
]

describe.concurrent.each(formats)('asked as %s', (format) => {
  test.concurrent('parley run answers with what its tools found, what it used and what it cost', async () => {
    const place = await given(looks)
    writeFileSync(join(place.cwd, 'a.txt'), 'hello from a file')
    const args = ['run', 'What is in a.txt?', '--embedded', '--json', '--model', `${format}:scripted`]
    const { code, stdout, stderr } = await parley(args, place)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const updates = jsonLines(stdout).flatMap(({ update }) =>
      update === undefined ? [] : [update as Record<string, unknown>],
    )
    const kinds = updates.map((update) => update['sessionUpdate'])
    expect(kinds).toEqual(
      expect.arrayContaining([
        'agent_thought_chunk',
        'agent_message_chunk',
        'tool_call',
        'tool_call_update',
        'usage_update',
      ]),
    )
    expect(updates.findLast((update) => update['sessionUpdate'] === 'usage_update')).toMatchObject({
      used: 220,
      size: 10_000,
      cost: { amount: 0.006, currency: 'USD' },
    })
    expect(jsonLines(stdout).at(-1)).toEqual({ stopReason: 'end_turn' })
    expect(place.server.requests[1]?.messages.at(-1)?.results[0]?.text).toContain('hello from a file')
    expect(stdout).not.toContain('sk-very-secret')
    expect(filesWith('sk-very-secret', place.home)).toEqual([])
  })
})

test.concurrent('a wrong key, an unknown provider and a missing model are each reported in one sentence', async () => {
  const place = await given([[{ fail: 'key' }]])
  const run = (...args: string[]) => parley(['run', 'hi', '--embedded', ...args], place)
  expect((await run('--model', 'openai:scripted')).stderr).toContain('refused the key')
  expect((await run('--model', 'nowhere:x')).stderr).toContain('no provider is called "nowhere"')
  expect(await run('--model', 'scripted')).toMatchObject({ code: 2 })
  expect(await run('--agent', 'guide', '--model', 'openai:x')).toMatchObject({ code: 2 })
})

test.concurrent('with a key a model answers, without one the guide', async () => {
  const place = await given([[{ text: 'I am a model.' }]])
  expect((await parley(['run', 'Who are you?', '--embedded'], place)).stdout).toBe('I am a model.\n')
  rmSync(join(place.home, 'config'), { recursive: true })
  expect((await parley(['run', '/help', '--embedded'], place)).stdout).toContain('not a language model')
})

test.concurrent('tools that appear and vanish in mid-turn: each step has exactly the list of that moment', async () => {
  const http = await startHttpServer({ answers: 'stream' })
  opened.add(() => http.close())
  const script: Script = ({ index, tools }) => {
    if (index === 0) {
      http.addTool('fresh')
      return [
        { call: 'far__echo', args: { text: 'x' } },
        { call: 'near__storm', args: { times: 3 } },
      ]
    }
    const isThere = tools.includes('far__fresh') && tools.includes('near__generation_3')
    return isThere || index > 50 ? [{ text: 'There.' }] : [{ sleepMs: 20 }, { call: 'far__echo', args: { text: 'x' } }]
  }
  const place = await given(script)
  const raw = await client(place)
  const near = new URL('../fixtures/mcp/stdio-server.mjs', import.meta.url).pathname
  const sessionId = await newSession(raw, place.cwd, [
    { name: 'near', command: process.execPath, args: [near, '{}'], env: [] },
    { type: 'http', name: 'far', url: http.url, headers: [] },
  ])
  await raw.request('session/set_mode', { sessionId, modeId: 'allow-all' })
  const { result } = await raw.request('session/prompt', promptOf(sessionId, 'go'))
  expect(result).toEqual({ stopReason: 'end_turn' })
  const [first, last] = [place.server.requests[0]?.tools ?? [], place.server.requests.at(-1)?.tools ?? []]
  expect(first).toContain('near__generation_0')
  expect(first).not.toContain('far__fresh')
  expect(last.toSorted()).toEqual(
    [...first.filter((name) => name !== 'near__generation_0'), 'far__fresh', 'near__generation_3'].toSorted(),
  )
})

describe.concurrent('a hostile model', () => {
  const reads = (...paths: string[]): readonly Saying[] => paths.map((path) => ({ call: 'read_file', args: { path } }))

  test.concurrent('gets a clear error for each thing that is not there or not allowed, and nothing else', async () => {
    const script: Script = [
      reads('../../etc/passwd', '/etc/passwd', 'out/passwd', '/proc/self/root/etc/passwd', 'a\0b'),
      [
        { call: 'no_such_tool' },
        { call: 'read_file', args: { path: 7 } },
        { call: 'read_file', args: ['x'] },
        { call: 'read_file', raw: '{"path": "a.t' },
      ],
      Array.from({ length: 1_000 }, () => ({ call: 'read_file', args: { path: 'a.txt' } })),
      [{ text: 'I have seen enough.' }],
    ]
    const place = await given(script, 1_000_000)
    writeFileSync(join(place.cwd, 'a.txt'), 'a')
    symlinkSync('/etc', join(place.cwd, 'out'))
    const raw = await client(place)
    const sessionId = await newSession(raw, place.cwd)
    await raw.request('session/set_mode', { sessionId, modeId: 'allow-all' })
    const { result, error } = await raw.request('session/prompt', promptOf(sessionId, 'go'))
    expect({ result, error }).toEqual({ result: { stopReason: 'end_turn' }, error: undefined })
    expect(said(raw)).toContain('I have seen enough.')
    const seen = JSON.stringify(place.server.requests.map(({ messages }) => messages))
    expect(seen).not.toContain('root:x:')
    expect(JSON.stringify(raw.received)).not.toContain('root:x:')
    expect(resultsOf(place.server, 3)).toBe(1_009)
  })

  test.concurrent('that calls for ever is stopped', async () => {
    const place = await given([{ always: true, say: [{ call: 'list_directory', args: { path: '.' } }] }])
    const run = await parley(['run', 'go', '--embedded', '--model', 'openai:scripted'], {
      ...place,
      env: { ...place.env, PARLEY_MAX_STEPS: '5' },
    })
    expect(run.code).toBe(5)
    expect(place.server.requests).toHaveLength(5)
  })
})

/** How many results a request tells of. */
function resultsOf({ requests }: ModelServer, index: number): number {
  return (requests[index]?.messages ?? []).reduce((sum, { results }) => sum + results.length, 0)
}

test.concurrent('a cancel ends stream and turn at once, and the next turn knows what was said', async () => {
  const place = await given([[{ text: 'Half a ' }, { silence: true }], [{ text: 'Good.' }]])
  const raw = await client(place)
  const sessionId = await newSession(raw, place.cwd)
  const ended = raw.request('session/prompt', promptOf(sessionId, 'go'))
  await raw.until((message) => JSON.stringify(message).includes('Half a'))
  raw.notify('session/cancel', { sessionId })
  expect((await ended).result).toEqual({ stopReason: 'cancelled' })
  await place.server.quiet()
  await raw.request('session/prompt', promptOf(sessionId, 'go on'))
  expect(place.server.requests[1]?.messages.map(({ role, text }) => `${role}: ${text}`)).toEqual([
    'user: go',
    'assistant: Half a ',
    expect.stringMatching(/^user: .*cut off here.*go on$/su),
  ])
})
