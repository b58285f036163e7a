/** MCP servers for external agents, through the real program. The numbers are cases of their law. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterEach, expect, test } from 'vitest'
import type { Fields } from '../e2e/message.ts'
import { updatesIn } from '../e2e/message.ts'
import { freshDirectory, initialize, newSession, promptOf, startParley } from '../e2e/parley.ts'
import type { RawClient } from '../e2e/raw-client.ts'
import type { Case } from '../fake-agent/case.ts'
import { FakeAgent } from '../fake-agent/fake-agent.ts'
import { stdioServer } from '../fixtures/mcp/servers.ts'
import { until } from '../fixtures/process/running.ts'

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

interface Stage {
  readonly fake: FakeAgent
  readonly client: RawClient
  readonly cwd: string
}

async function staged(plan: Case, permissions = ''): Promise<Stage> {
  const directory = freshDirectory()
  const [home, cwd] = [join(directory, 'home'), join(directory, 'work')]
  const fake = new FakeAgent(join(directory, 'fake'), plan)
  for (const folder of [cwd, join(home, 'config/parley')]) mkdirSync(folder, { recursive: true })
  const entry = `[agents.fake]\ncommand = ${JSON.stringify(fake.command)}\nargs = ${JSON.stringify(fake.args)}\n`
  writeFileSync(join(home, 'config/parley/parley.toml'), `${entry}${permissions}`)
  const client = startParley({ home, agent: 'fake' })
  closing.push(async () => {
    await client.leave()
    await until(() => fake.processes.length === 0)
    rmSync(directory, { recursive: true, force: true, maxRetries: 3 })
  })
  await initialize(client)
  return { fake, client, cwd }
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
  closing.push(() => client.close())
  const requestInit = { headers: Object.fromEntries(headers.map(({ name, value }) => [name, value])) }
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }))
  return client
}

const HTTP = { mcpCapabilities: { http: true }, loadSession: true }

test('an agent reaches the servers of its session by addresses of Parley, and never has their secrets [48]', async () => {
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

test('an agent without HTTP gets the servers that it can reach, and the others are named [49]', async () => {
  const { fake, client, cwd } = await staged({})
  const web = { type: 'sse', name: 'web', url: 'http://127.0.0.1:9/sse', headers: [] }
  const sessionId = await newSession(client, cwd, [declared('db'), web])
  await client.request('session/prompt', promptOf(sessionId, 'hi'))
  expect(given(fake).map(({ name, type }) => [name, type])).toEqual([['db', undefined]])
  await client.until(({ params }) => JSON.stringify(params ?? {}).includes('cannot use these MCP servers: web'))
})

test('other servers reach the agent before its next prompt [49]', async () => {
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
