/** An external agent behind the real program: a prompt from the terminal, a server that is killed, and what is left of it. */
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Fields } from '../e2e/message.ts'
import { Cli, endServers, killServer, parley } from '../e2e/cli.ts'

import { freshDirectory, initialize, newSession, promptOf, startParley } from '../e2e/parley.ts'
import { FakeAgent } from '../fake-agent/fake-agent.ts'
import { until } from '../fixtures/process/running.ts'

endServers()

function agentIn(home: string, plan: ConstructorParameters<typeof FakeAgent>[1], more = ''): FakeAgent {
  const fake = new FakeAgent(join(home, 'fake'), plan)
  const directory = join(home, 'config', 'parley')
  mkdirSync(directory, { recursive: true })
  const lines = ['[agents.fake]', `command = ${JSON.stringify(fake.command)}`, `args = ${JSON.stringify(fake.args)}`]
  writeFileSync(join(directory, 'parley.toml'), `${lines.join('\n')}\n${more}`)
  return fake
}

test.concurrent('a prompt whose server is killed half way keeps what was seen; no agent is left, and the next prompt answers', async () => {
  const home = freshDirectory()
  const slow = [{ repeat: 30, moves: [{ chunk: 'word{n} ' }] }, { mark: 'half' }, { silent: true as const }]
  const fake = agentIn(home, { capabilities: { loadSession: true }, prompts: { work: slow } })
  const first = new Cli(['run', '--agent', 'fake', 'work'], { home })
  await until(() => first.stdout.includes('word30'))
  killServer(home)
  const { code } = await first.finished
  expect(code).toBe(75)
  await until(() => fake.processes.length === 0)
  const { stdout: list } = await parley(['ls', '--json'], { home })
  const { sessionId } = JSON.parse(list.trim().split('\n')[0] ?? '{}') as { readonly sessionId: string }
  const shown = await parley(['show', sessionId], { home })
  expect(shown.stdout).toContain('word1 word2')
  expect(shown.stdout).toContain('word30')
  expect(shown.stdout).toContain('Interrupted')
  const next = await parley(['run', '--session', sessionId, 'go on'], { home })
  expect(next.stdout).toContain('echo: go on')
  expect(fake.prompts).toEqual(['work', 'go on'])
  expect(fake.received('session/load')).toHaveLength(1)
})

test.concurrent('processes that an agent has started are gone when its server is killed [28]', async () => {
  const home = freshDirectory()
  const moves = [{ holdsPipe: true }, { ownSession: true, ignoresTerm: true }].map((grandchild) => ({ grandchild }))
  const fake = agentIn(home, { prompts: { work: [...moves, { mark: 'started' }, { silent: true as const }] } })
  const first = new Cli(['run', '--agent', 'fake', 'work'], { home })
  await fake.until(({ mark }) => mark === 'started')
  expect(fake.processes).toHaveLength(3)
  killServer(home)
  await first.finished
  // What left its group is found by its mark when the next server starts.
  expect(await parley(['ls'], { home })).toMatchObject({ code: 0 })
  await until(() => fake.processes.length === 0)
})

test.concurrent('no secret of an agent or of its MCP servers is in the journal, the log or an export [54]', async () => {
  const home = freshDirectory()
  const secrets = { env: 'sentinel-of-the-env', mcp: 'sentinel-of-the-server' }
  const error = { code: -32_603, message: `bad key ${secrets.env}`, data: { key: `${secrets.env} ${secrets.mcp}` } }
  const said = [{ stderr: `{env.FAKE_TOKEN} and ${secrets.mcp}\n` }, { chunk: `{env.FAKE_TOKEN} and ${secrets.mcp}` }]
  const plan = {
    prompts: { say: said, fail: [{ fail: error }] },
    on: { initialize: [{ stderr: 'key {env.FAKE_TOKEN}\n' }] },
  }
  const tables = `env = { FAKE_TOKEN = "${secrets.env}" }\n`
  agentIn(home, plan, tables)
  const client = startParley({ home, agent: 'fake' })
  await initialize(client)
  const web = {
    type: 'stdio',
    name: 'web',
    command: process.execPath,
    args: ['-e', ''],
    env: [{ name: 'WEB_TOKEN', value: secrets.mcp }],
  }
  const sessionId = await newSession(client, home, [web])
  for (const text of ['say', 'fail']) await client.request('session/prompt', promptOf(sessionId, text))
  await client.leave()
  const { stdout } = await parley(['export', sessionId, '--format', 'jsonl'], { home })
  expect(stdout).toContain('[secret] and [secret]')
  const everything = stdout + JSON.stringify(client.received) + filesBelow(home, ['config', 'fake'])
  for (const secret of Object.values(secrets)) expect(everything).not.toContain(secret)
})

/** The bytes of all files, but for those folders. */
function filesBelow(directory: string, without: readonly string[]): string {
  return readdirSync(directory, { withFileTypes: true })
    .filter(({ name }) => !without.includes(name))
    .map((entry) => {
      const path = join(directory, entry.name)
      return entry.isDirectory() ? filesBelow(path, []) : entry.isFile() ? readFileSync(path, 'latin1') : ''
    })
    .join('\n')
}

test.concurrent('an editor with a terminal offers the logins of the agent, and runs them through parley acp', async () => {
  const home = freshDirectory()
  const methods = [{ id: 'key', name: 'A key', description: 'Type it in' }]
  const fake = agentIn(home, { needsLogin: true, authMethods: methods })
  await parley(['agents', 'test', 'fake'], { home })
  const offered = async (clientCapabilities: Fields): Promise<unknown> => {
    const client = startParley({ home, agent: 'fake' })
    const { result } = await client.request('initialize', { protocolVersion: 1, clientCapabilities })
    await client.leave()
    return result?.['authMethods']
  }
  const login = { id: 'fake/key', name: 'fake: A key', description: 'Type it in', type: 'terminal' }
  expect(await offered({ auth: { terminal: true } })).toEqual([{ ...login, args: ['--login', 'fake/key'] }])
  // Older editors say the same in this way.
  expect(await offered({ _meta: { 'terminal-auth': true } })).toHaveLength(1)
  expect(await offered({})).toEqual([])

  expect(await parley(['acp', '--login', 'fake/key'], { home })).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Logged in to fake') as string,
  })
  expect(fake.received('authenticate')).toEqual([{ methodId: 'key' }])
  expect(await parley(['acp', '--login', 'fake/other'], { home })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('key (A key)') as string,
  })
})

test.concurrent('an editor sees by the code of the error that a login is needed, and its files are text where an agent takes no files', async () => {
  const home = freshDirectory()
  const methods = [
    { id: 'key', name: 'A key', description: 'Type it in', type: 'agent' },
    { id: 'web', name: 'A browser', type: 'terminal' },
  ]
  const fake = agentIn(home, { needsLogin: true, authMethods: methods })
  const client = startParley({ home, agent: 'fake' })
  await initialize(client)
  const sessionId = await newSession(client, home)
  const refused = await client.request('session/prompt', promptOf(sessionId, 'one'))
  expect(refused.error).toMatchObject({ code: -32_000, data: { code: 'AGENT_LOGIN_NEEDED', agent: 'fake', methods } })
  writeFileSync(join(fake.home, 'logged-in'), '')
  const resource = { uri: 'file:///a.txt', text: 'the words of the file' }
  const prompt = [
    { type: 'resource', resource },
    { type: 'text', text: 'two' },
  ]
  expect((await client.request('session/prompt', { sessionId, prompt })).result).toEqual({ stopReason: 'end_turn' })
  const [sent] = fake.received('session/prompt') as readonly { readonly prompt: readonly object[] }[]
  // What it missed comes before.
  expect(sent?.prompt.slice(-2)).toEqual([
    { type: 'text', text: '<context uri="file:///a.txt">\nthe words of the file\n</context>' },
    { type: 'text', text: 'two' },
  ])
  await client.leave()
})
