/** The model agent in the real binary, asked over real HTTP in the formats of three kinds of providers. */
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { endServers, jsonLines, parley } from '../e2e/cli.ts'
import { freshDirectory } from '../e2e/parley.ts'
import type { Script } from '../model-server/script.ts'
import { PerTest } from '../fixtures/process/per-test.ts'
import { startModelServer } from '../model-server/server.ts'

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
