/** MCP servers for external agents, through the real program. The numbers are cases of their law. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { socketPathOf } from '../../src/config/socket.ts'
import type { Fields } from '../e2e/message.ts'
import { updatesIn } from '../e2e/message.ts'
import { hostServer } from '../e2e/hosted-server.ts'
import { freshDirectory, newSession, promptOf } from '../e2e/parley.ts'
import { RawSocket } from '../e2e/raw-socket.ts'
import type { Case } from '../fake-agent/case.ts'
import { FakeAgent } from '../fake-agent/fake-agent.ts'
import { stdioServer } from '../fixtures/mcp/servers.ts'
import { PerTest } from '../fixtures/process/per-test.ts'
import { until } from '../fixtures/process/running.ts'

const closing = new PerTest<() => Promise<unknown>>(async (opened) => {
  for (const close of opened.toReversed()) await close()
})
closing.closeAfterEach()

interface Stage {
  readonly fake: FakeAgent
  readonly client: RawSocket
  readonly cwd: string
  readonly home: string
}

/** `more` goes on with the settings of the agent. */
async function staged(plan: Case, more = '', clientCapabilities: Fields = {}): Promise<Stage> {
  const directory = freshDirectory()
  const [home, cwd] = [join(directory, 'home'), join(directory, 'work')]
  const fake = new FakeAgent(join(directory, 'fake'), plan)
  for (const folder of [cwd, join(home, 'config/parley')]) mkdirSync(folder, { recursive: true })
  const entry = `[agents.fake]\ncommand = ${JSON.stringify(fake.command)}\nargs = ${JSON.stringify(fake.args)}\n`
  writeFileSync(join(home, 'config/parley/parley.toml'), `${entry}${more}`)
  const server = await hostServer({ home, agent: 'fake' })
  const client = await RawSocket.open(socketPathOf(home), { agent: 'fake', capabilities: clientCapabilities })
  closing.add(async () => {
    await client.leave()
    server.signal('SIGTERM')
    await server.ended
    await until(() => fake.processes.length === 0)
    rmSync(directory, { recursive: true, force: true, maxRetries: 3 })
  })
  return { fake, client, cwd, home }
}

/** A server as a client declares it. */
function declared(name: string, env: Readonly<Record<string, string>> = {}): Fields {
  const { command, args } = stdioServer(name)
  return { name, command, args, env: Object.entries(env).map(([key, value]) => ({ name: key, value })) }
}

interface Given {
  readonly type?: string
  readonly name: string
  readonly url: string
  readonly headers: readonly { readonly name: string; readonly value: string }[]
}

/** The servers that the agent was given with the last such request. */
const given = (fake: FakeAgent, method = 'session/new'): readonly Given[] =>
  fake.received(method).at(-1)?.['mcpServers'] as readonly Given[]

async function agentAt({ url, headers }: Given): Promise<Client> {
  const client = new Client({ name: 'agent', version: '1' })
  closing.add(() => client.close())
  const requestInit = { headers: Object.fromEntries(headers.map(({ name, value }) => [name, value])) }
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }))
  return client
}

const HTTP = { mcpCapabilities: { http: true }, loadSession: true }

test.concurrent('an agent reaches the servers of its session by addresses of Parley, and never has their secrets [48]', async () => {
  const rule = '[permissions]\ndeny = [{ server = "db", tool = "env" }]\n'
  const { fake, client, cwd } = await staged({ capabilities: HTTP }, rule)
  const sessionId = await newSession(client, cwd, [declared('db', { DB_KEY: 'sentinel-secret' })])
  await client.request('session/prompt', promptOf(sessionId, 'hi'))
  const [server] = given(fake) as readonly [Given]
  expect(server).toMatchObject({
    type: 'http',
    name: 'db',
    url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/db$/u),
  })
  expect(JSON.stringify(fake.log.map(({ got }) => got))).not.toContain('sentinel')

  const agent = await agentAt(server)
  expect((await agent.listTools()).tools.map(({ name }) => name)).toContain('echo')
  const said = await agent.callTool({ name: 'echo', arguments: { text: 'through' } })
  expect(said).toMatchObject({ content: [{ text: 'through' }] })
  const denied = await agent.callTool({ name: 'env', arguments: {} })
  expect(denied).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('deny') }] })
  // Only the agent's own report of a call is part of the session.
  expect(updatesIn(client.received, sessionId).map(({ update }) => update.sessionUpdate)).not.toContain('tool_call')
})

test.concurrent('an agent without HTTP gets the servers that it can reach, and the others are named [49]', async () => {
  const { command, args } = stdioServer('own')
  // With the servers of its own files Parley alone speaks.
  const own = `[mcp.own]\ncommand = ${JSON.stringify(command)}\nargs = ${JSON.stringify(args)}\n`
  const { fake, client, cwd, home } = await staged({}, own)
  const web = { type: 'sse', name: 'web', url: 'http://127.0.0.1:9/sse', headers: [] }
  const sessionId = await newSession(client, cwd, [declared('db'), web])
  await client.request('session/prompt', promptOf(sessionId, 'hi'))
  expect(given(fake).map(({ name, type }) => [name, type])).toEqual([['db', undefined]])
  const told = () =>
    client.received.flatMap(({ params }) => /fake (?:cannot|works)[^"]*/u.exec(JSON.stringify(params ?? {}))?.[0] ?? [])
  const sentence = 'fake cannot use these MCP servers: web, own.'
  await client.until(() => told().includes(sentence))

  // Said once, and again with what else the agent cannot use.
  await client.request('_parley/release', { sessionId })
  await client.request('session/prompt', promptOf(sessionId, 'again'))
  expect(told()).toEqual([sentence])
  await client.request('session/load', { sessionId, cwd, mcpServers: [web], additionalDirectories: [home] })
  await client.request('_parley/release', { sessionId })
  await client.request('session/prompt', promptOf(sessionId, 'and again'))
  expect(told().slice(-2)).toEqual([sentence, `fake works in one directory only and was not given ${home}.`])
})

test.concurrent('other servers reach the agent before its next prompt [49]', async () => {
  const { fake, client, cwd } = await staged({ capabilities: HTTP })
  const sessionId = await newSession(client, cwd, [declared('db')])
  await client.request('session/prompt', promptOf(sessionId, 'one'))
  await client.request('session/prompt', promptOf(sessionId, 'two'))
  expect(fake.received('session/load')).toEqual([])
  await client.request('session/load', { sessionId, cwd, mcpServers: [declared('db'), declared('more')] })
  await client.request('session/prompt', promptOf(sessionId, 'three'))
  expect(given(fake, 'session/load').map(({ name }) => name)).toEqual(['db', 'more'])
  expect(fake.prompts).toEqual(['one', 'two', 'three'])
})

const TORTURE = new URL('../fixtures/mcp/torture-server.mjs', import.meta.url).pathname
/** Its tool `do` asks the user for a name. */
const ASKING = { name: 'asking', command: process.execPath, args: [TORTURE, 'asks the person', '/dev/null'], env: [] }

test.concurrent('a question of an MCP server goes to the client whose prompt runs, and without one it is cancelled [21]', async () => {
  const plan = { capabilities: HTTP, prompts: { go: [{ gate: 'asked' }, { chunk: 'Done.' }] } }
  const { fake, client, cwd } = await staged(plan, '', { elicitation: { form: {} } })
  const sessionId = await newSession(client, cwd, [ASKING])
  await client.request('session/prompt', promptOf(sessionId, 'hi'))
  const [server] = given(fake) as readonly [Given]
  const agent = await agentAt(server)
  const call = () => agent.callTool({ name: 'do', arguments: {} })
  expect(JSON.stringify(await call())).toContain('cancel')
  await client.until(({ params }) => JSON.stringify(params ?? {}).includes('uses the MCP server asking, which asked'))

  const turn = client.request('session/prompt', promptOf(sessionId, 'go'))
  await fake.until(({ mark }) => mark === 'at asked')
  const called = call()
  const { id, params } = await client.until(({ method }) => method === 'elicitation/create')
  expect(params).toMatchObject({ sessionId, mode: 'form', message: 'asking: name?' })
  client.reply(id, { action: 'accept', content: { name: 'Ada' } })
  expect(JSON.stringify(await called)).toContain('Ada')
  fake.open('asked')
  await turn
})

test.concurrent('a user is asked about MCP tools only for an agent that never asks, and what a rule allows needs no answer', async () => {
  const more = 'quirks = { asks = "never" }\n[permissions]\nallow = [{ server = "db", tool = "answer" }]\n'
  const plan = { capabilities: HTTP, prompts: { go: [{ gate: 'asked' }] } }
  const { fake, client, cwd } = await staged(plan, more)
  const sessionId = await newSession(client, cwd, [declared('db')])
  const turn = client.request('session/prompt', promptOf(sessionId, 'go'))
  await fake.until(({ mark }) => mark === 'at asked')
  const [server] = given(fake) as readonly [Given]
  const agent = await agentAt(server)
  expect(await agent.callTool({ name: 'answer', arguments: {} })).toMatchObject({ structuredContent: { n: 42 } })

  const questions = () => client.received.filter(({ method }) => method === 'session/request_permission')
  const answers = ['no', 'once', 'always']
  const echoed: unknown[] = []
  for (const [at, optionId] of answers.entries()) {
    const called = agent.callTool({ name: 'echo', arguments: { text: optionId } })
    await client.until(() => questions().length > at)
    const { id, params } = questions()[at] ?? {}
    expect(params).toMatchObject({ sessionId, toolCall: { rawInput: { text: optionId } } })
    client.reply(id ?? null, { outcome: { outcome: 'selected', optionId } })
    echoed.push((await called).isError === true ? 'refused' : 'ran')
  }
  expect(echoed).toEqual(['refused', 'ran', 'ran'])
  expect(await agent.callTool({ name: 'echo', arguments: { text: 'again' } })).toMatchObject({
    content: [{ text: 'again' }],
  })
  expect(questions()).toHaveLength(3)
  fake.open('asked')
  await turn
  // What it does with its own tools, no rule can hold back.
  expect(JSON.stringify(client.received)).toContain('fake never asks before it changes files')
})
