/** A turn of the model as its client is asked about it: a change with its difference, and a command. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { endServers } from '../e2e/cli.ts'
import { type Fields, updatesIn } from '../e2e/message.ts'
import { freshDirectory, initialize, newSession, promptOf, startParley } from '../e2e/parley.ts'
import { PerTest } from '../fixtures/process/per-test.ts'
import type { Script } from '../model-server/script.ts'
import { startModelServer } from '../model-server/server.ts'

endServers()

const opened = new PerTest<() => unknown>(async (all) => {
  for (const close of all.toReversed()) await close()
})
opened.closeAfterEach()

const greets: Script = [
  [
    { reasoning: 'I read it first.' },
    { text: ['Let me ', 'look.'] },
    { call: 'read_file', args: { path: 'hello.txt' } },
    { usage: { input: 1_200, output: 40 } },
  ],
  [
    { text: 'Now I change it.' },
    { call: 'edit_file', args: { path: 'hello.txt', edits: [{ old_text: 'world', new_text: 'Parley' }] } },
    { usage: { input: 1_400, output: 60 } },
  ],
  [{ call: 'run_command', args: { command: 'cat hello.txt' } }, { usage: { input: 1_500, output: 30 } }],
  [{ text: 'Done: **hello Parley**.' }, { usage: { input: 1_600, output: 30 } }],
]
/** 5,700 tokens in and 160 out. */
const USED = { used: 1_630, size: 10_000, cost: { amount: 0.073, currency: 'USD' } }
const DIFFERENCE = { type: 'diff', oldText: 'hello world\n', newText: 'hello Parley\n' }

const MODEL = 'openai:scripted'

async function given(rules = '') {
  const server = await startModelServer(greets)
  const home = freshDirectory()
  const cwd = join(home, 'work')
  for (const directory of [cwd, join(home, 'config', 'parley')]) mkdirSync(directory, { recursive: true })
  writeFileSync(join(cwd, 'hello.txt'), 'hello world\n')
  const model = '{ name = "scripted", context_window = 10000, price = { input = 10, output = 100 } }'
  const provider = `[providers.openai]\nurl = "${server.url}/v1"\nkey_env = "TEST_KEY"\nmodels = [${model}]\n`
  writeFileSync(join(home, 'config', 'parley', 'parley.toml'), `${provider}${rules}`)
  opened.add(() => server.close())
  opened.add(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }))
  return { server, home, cwd, env: { TEST_KEY: 'sk-very-secret', PARLEY_MODEL_TITLES: 'false' } }
}

test.concurrent('a client is asked with the difference and the command before it, and each answer counts', async () => {
  const place = await given()
  const client = startParley({ home: place.home, agent: `model:${MODEL}`, env: place.env })
  opened.add(() => client.kill())
  const asked: Fields[] = []
  client.listen(({ id, method, params }) => {
    if (method !== 'session/request_permission') return
    asked.push(params?.['toolCall'] as Fields)
    const optionId = asked.length === 1 ? 'allow_once' : 'reject_once'
    client.reply(id, { outcome: { outcome: 'selected', optionId } })
  })
  await initialize(client)
  const sessionId = await newSession(client, place.cwd)
  const { result } = await client.request('session/prompt', promptOf(sessionId, 'Greet Parley'))
  expect(result).toMatchObject({ stopReason: 'end_turn' })
  expect(asked).toMatchObject([
    { title: 'Edit hello.txt', kind: 'edit', content: [DIFFERENCE] },
    { title: 'Run cat hello.txt', kind: 'execute', rawInput: { command: 'cat hello.txt' } },
  ])
  const results = place.server.requests.at(-1)?.messages.flatMap((message) => message.results) ?? []
  expect(results.map(({ text }) => text)).toEqual([
    expect.stringContaining('hello world'),
    expect.stringContaining('Edited hello.txt in one place.'),
    expect.stringContaining('Not allowed. The tool was not run.'),
  ])
  const usage = updatesIn(client.received).findLast(({ update }) => update.sessionUpdate === 'usage_update')
  expect(usage?.update).toMatchObject(USED)
})
