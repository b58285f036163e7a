import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { gate, messageLog, openBench, stdioServer, type Bench } from '../../../../test/fixtures/mcp/servers.ts'
import { PerTest } from '../../../../test/fixtures/process/per-test.ts'
import { until } from '../../../../test/fixtures/process/running.ts'
import type { FrontedServer, FrontedSession, OpenFront } from '../../../ports/mcp-front.ts'
import type { McpServer } from '../../../ports/tools.ts'
import { systemClock } from '../../clock.ts'
import type { CallDecision, FrontedCall } from './fronted-server.ts'
import { LoopbackFront, plainNames } from './loopback-front.ts'

const closing = new PerTest<() => Promise<unknown>>(async (opened) => {
  for (const close of opened.toReversed()) await close()
})
closing.closeAfterEach()

interface Stage {
  readonly bench: Bench
  readonly open: OpenFront
  readonly notices: string[]
}

interface Wishes extends Partial<FrontedSession> {
  readonly decide?: (call: FrontedCall) => Promise<CallDecision>
}

/** A bench, and a front over it. */
function openFront(decide: (call: FrontedCall) => Promise<CallDecision> = async () => ({ decision: 'allow' })) {
  const bench = openBench()
  const front = new LoopbackFront({
    clock: systemClock,
    clientInfo: { name: 'parley', version: '1' },
    namesOf: (session) => bench.host.namesFor(session),
    registryOf: (session) => bench.host.serversOf(session),
    decide,
  })
  closing.add(async () => {
    await front.close()
    await bench.close()
  })
  return { bench, front }
}

/** A session with these servers, and the front for its agent. */
async function fronting(servers: readonly McpServer[], { decide, ...wishes }: Wishes = {}): Promise<Stage> {
  const { bench, front } = openFront(decide)
  bench.open(servers, 'session')
  const notices: string[] = []
  const notice = (text: string) => void notices.push(text)
  const open = await front.open({ id: 'session', roots: ['/'], mcpServers: servers, notice, ...wishes })
  return { bench, notices, open }
}

function serverOf({ servers }: OpenFront, name: string): FrontedServer {
  const server = servers.find((one) => one.name === name)
  if (server === undefined) throw new Error(`no server ${name} among ${servers.map((one) => one.name).join(', ')}`)
  return server
}

/** Connects as an agent does. */
async function connect({ url, headers }: FrontedServer, onChange: () => void = () => undefined): Promise<Client> {
  const client = new Client({ name: 'agent', version: '1' })
  client.setNotificationHandler('notifications/tools/list_changed', onChange)
  closing.add(() => client.close())
  const requestInit = { headers: Object.fromEntries(headers) }
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }))
  return client
}

async function statusOf(url: string, headers: Readonly<Record<string, string>>): Promise<number> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} })
  const sent = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers }
  return (await fetch(url, { method: 'POST', headers: sent, body })).status
}

test.concurrent('an agent lists and calls the tools of a server by their own names, and never gets its secrets', async () => {
  const { open, bench } = await fronting([stdioServer('my db', {}, { DB_KEY: 'sentinel-secret' })])
  expect(JSON.stringify(open.servers)).not.toContain('sentinel')
  const client = await connect(serverOf(open, 'my_db'))
  const echo = async () => (await client.listTools()).tools.find(({ name }) => name === 'echo')
  // A list does not wait for ever for a server that has just been started.
  await until(async () => (await echo()) !== undefined)
  expect(await echo()).toMatchObject({
    title: 'Echo',
    inputSchema: { required: ['text'] },
    annotations: { readOnlyHint: true },
  })
  const said = await client.callTool({ name: 'echo', arguments: { text: '漢字' } })
  expect(said).toMatchObject({ content: [{ type: 'text', text: '漢字' }], isError: false })
  expect(await client.callTool({ name: 'refuse', arguments: {} })).toMatchObject({ isError: true })
  await expect(client.callTool({ name: 'nothing', arguments: {} })).rejects.toThrow('no tool nothing')
  expect(bench.warnings).toEqual([])
})

test.concurrent('an address needs the token of its session, and is closed with it', async () => {
  const { open } = await fronting([stdioServer('db')])
  const { url, headers } = serverOf(open, 'db')
  const token = Object.fromEntries(headers)
  expect(await statusOf(url, {})).toBe(401)
  expect(await statusOf(url, { authorization: `Bearer ${'x'.repeat(43)}` })).toBe(401)
  expect(await statusOf(url, { ...token, origin: 'http://evil.example' })).toBe(403)
  expect(await statusOf(url.replace('127.0.0.1', 'localhost'), token)).toBe(403)
  expect(await statusOf(url.replace(/db$/u, 'other'), token)).toBe(404)
  expect(await statusOf(url, { ...token, 'mcp-session-id': 'guessed' })).toBe(404)
  await connect({ name: 'db', url, headers })
  await open.close()
  expect(await statusOf(url, token)).toBe(401)
})

test.concurrent('a slow server has its address at once and its tools later; a dead one is reported', async () => {
  const dead: McpServer = { type: 'http', name: 'dead', url: 'http://127.0.0.1:9/mcp', headers: [] }
  const held = gate()
  const { open, notices } = await fronting([stdioServer('slow', { awaits: held.path }), dead])
  let changed = 0
  const slow = await connect(serverOf(open, 'slow'), () => (changed += 1))
  expect(await slow.listTools()).toMatchObject({ tools: [] })
  held.open()
  await until(() => changed > 0)
  expect((await slow.listTools()).tools.map(({ name }) => name)).toContain('echo')

  const client = await connect(serverOf(open, 'dead'))
  expect(await client.listTools()).toMatchObject({ tools: [] })
  await client.listTools()
  expect(notices).toEqual([expect.stringContaining('dead')])
})

test.concurrent('the servers of a session change behind its addresses', async () => {
  const declared: McpServer[] = [stdioServer('db', { tools: [] })]
  const { open, bench } = await fronting(declared)
  let changed = 0
  const client = await connect(serverOf(open, 'db'), () => (changed += 1))
  await client.listTools()
  expect(open.isCurrent()).toBe(true)

  const before = bench.host.serversOf('session')
  const tool = { name: 'newer', inputSchema: { type: 'object' } }
  bench.open([stdioServer('db', { tools: [tool] })], 'session')
  await before?.close()
  await until(() => changed > 0)
  await until(() => bench.host.serversOf('session')?.list().servers[0]?.state === 'ready')
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('newer')
  expect(open.isCurrent()).toBe(true)

  declared.push(stdioServer('more'))
  expect(open.isCurrent()).toBe(false)
})

test.concurrent('an agent that connects while its session is being created is notified when there are tools', async () => {
  const { bench, front } = openFront()
  const mcpServers = [stdioServer('db')]
  const open = await front.open({ id: 'session', roots: ['/'], mcpServers, notice: () => undefined })
  let changed = 0
  const client = await connect(serverOf(open, 'db'), () => (changed += 1))
  expect(await client.listTools()).toMatchObject({ tools: [] })
  bench.open(mcpServers, 'session')
  await until(() => changed > 0)
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('echo')
})

test.concurrent('a call that a rule or a user denies does not reach the server', async () => {
  const log = messageLog()
  const { open } = await fronting([stdioServer('db', { log: log.path })], {
    decide: async ({ tool, args, roots, session }) => {
      if (tool.serverToolName === 'answer') return { decision: 'allow' }
      if (tool.serverToolName === 'env') return { decision: 'ask' }
      return { decision: 'deny', sentence: `denied ${session} ${roots[0]} ${JSON.stringify(args)}` }
    },
    permit: async (tool) => `not now: ${tool.serverToolName}`,
  })
  const client = await connect(serverOf(open, 'db'))
  const denied = await client.callTool({ name: 'echo', arguments: { text: 'x' } })
  expect(denied).toMatchObject({ isError: true, content: [{ text: 'denied session / {"text":"x"}' }] })
  expect(await client.callTool({ name: 'env', arguments: {} })).toMatchObject({ content: [{ text: 'not now: env' }] })
  expect(await client.callTool({ name: 'answer', arguments: {} })).toMatchObject({ structuredContent: { n: 42 } })
  const calls = log.read().filter(({ method }) => method === 'tools/call')
  expect(calls.map(({ params }) => params?.['name'])).toEqual(['answer'])
})

test.concurrent('names of servers are made plain and stay unique', () => {
  const names = ['db', 'my_db', 'my_db_2', 'Uber', '_', '__2']
  expect(plainNames(['db', 'my db', 'my  db', 'Über', '文件', '文'])).toEqual(names)
  const [one = '', other = ''] = plainNames(['x'.repeat(60), 'x'.repeat(60)])
  expect([one.length, other.length]).toEqual([48, 48])
  expect(one).not.toBe(other)
})
