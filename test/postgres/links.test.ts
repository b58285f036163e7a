/** What goes from node to node for a client: over TLS, with the client's files, and to another node once the session is there. */
import { execFileSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Cli, endServers, parley } from '../e2e/cli.ts'
import { PerTest } from '../fixtures/process/per-test.ts'
import { freshDirectory, promptOf, scriptAgent } from '../e2e/parley.ts'
import type { RawSocket } from '../e2e/raw-socket.ts'
import { type Environment, TestNode, cursorsIn, openedBy, said } from './nodes.ts'
import { DatabaseProxy } from './proxy.ts'
import { PostgresServer } from './server.ts'

endServers()

let server: PostgresServer

beforeAll(async () => {
  server = await PostgresServer.start()
})

afterAll(() => server.close())

/** Servers and proxies of one test. */
const opened = new PerTest<{ close(): Promise<void> }>(async (all) => {
  for (const one of all) await one.close()
})
opened.closeAfterEach()

function kept<Opened extends { close(): Promise<void> }>(one: Opened): Opened {
  opened.add(one)
  return one
}

/** A certificate that signs itself, and its key. */
function certificate(): { readonly pem: string; readonly key: string } {
  const directory = freshDirectory()
  const [pem, key] = [join(directory, 'node.pem'), join(directory, 'node.key')]
  const names = ['-subj', '/CN=node', '-addext', 'subjectAltName=IP:127.0.0.1']
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  execFileSync('openssl', ['req', '-x509', ...kind, '-keyout', key, '-out', pem, ...names], { stdio: 'ignore' })
  return { pem, key }
}

interface Talk {
  readonly schema: string
  readonly one: TestNode
  readonly two: TestNode
  /** Clients of the nodes one and two; bob has sent a prompt whose turn talks without end, on node one. */
  readonly ada: RawSocket
  readonly bob: RawSocket
  readonly sessionId: string
  readonly cwd: string
  readonly prompt: number
  /** Its agent says one sentence from now on. */
  calm(): Promise<void>
}

/** Node one has its database at `url`. */
async function talk(url = server.url): Promise<Talk> {
  const schema = server.schema()
  const env = { PARLEY_CLUSTER: server.url, PARLEY_CLUSTER_SCHEMA: schema }
  await parley(['cluster', 'init'], { home: freshDirectory(), env })
  const cwd = freshDirectory()
  const [one, two] = await Promise.all([
    TestNode.start('one', { ...env, PARLEY_CLUSTER: url }),
    TestNode.start('two', env),
  ])
  const agent = await scriptAgent(cwd, [{ chunk: 'w{n} ', times: 20_000, everyMs: 5 }])
  const ada = await one.client({ agent, notifications: ['server'] })
  const bob = await two.client()
  const sessionId = await openedBy(ada, cwd)
  await bob.request('session/resume', { sessionId, cwd, mcpServers: [] })
  const prompt = bob.ask('session/prompt', { ...promptOf(sessionId, 'Talk'), _meta: { 'parley/promptId': 'talk' } })
  await expect.poll(() => said(bob.received, sessionId)).toContain('w20 ')
  const calm = () => writeFile(join(cwd, 'script.jsonl'), `${JSON.stringify({ chunk: 'Here again.' })}\n`)
  return { schema, one, two, ada, bob, sessionId, cwd, prompt, calm }
}

/** The turn of the prompt is interrupted, and the session goes on without another sign of it. */
async function expectsToGoOn(held: Talk, clients: readonly RawSocket[]): Promise<void> {
  const { bob, sessionId, prompt } = held
  expect((await bob.answerTo(prompt)).error?.data).toMatchObject({ code: 'TURN_INTERRUPTED' })
  await held.calm()
  const { result } = await bob.request('session/prompt', promptOf(sessionId, 'And now?'))
  expect(result).toEqual({ stopReason: 'end_turn' })
  expect(bob.received.filter(({ id, method }) => id === prompt && method === undefined)).toHaveLength(1)
  for (const { received } of clients) {
    await expect.poll(() => said(received, sessionId)).toMatch(/Here again\.$/u)
    expect(JSON.stringify(received)).not.toMatch(/JOURNAL_CONFLICT|"parley\/phase":"closed"/u)
    const cursors = cursorsIn(received, sessionId)
    expect(cursors).toEqual([...new Set(cursors)].toSorted((left, right) => left - right))
  }
}

test('a session that another node has claimed goes on there: its former node is alive, and sends its clients away', async () => {
  const held = await talk()
  const { schema, sessionId, ada, bob } = held
  await server.query(
    `UPDATE ${schema}.session SET epoch = epoch + 1,
      boot = (SELECT boot FROM ${schema}.node WHERE record::json->>'name' = 'two') WHERE id = $1`,
    [sessionId],
  )
  await expectsToGoOn(held, [ada, bob])
})

test('a client that comes back to another node than its session is on cancels its prompt by the id of the request', async () => {
  const { two, bob, sessionId, cwd } = await talk()
  await bob.leave()
  const back = await two.client()
  const prompts = [{ requestId: 'before', promptId: 'talk' }]
  const opening = { sessionId, cwd, mcpServers: [], _meta: { 'parley/prompts': prompts } }
  await back.request('session/resume', opening)
  back.notify('$/cancel_request', { requestId: 'before' })
  expect((await back.answerTo('before')).result).toEqual({ stopReason: 'cancelled' })
})

test('a node that is cut from the database and not from the others is counted out: its own are warned, and those of the others go on', async () => {
  const proxy = await new DatabaseProxy(server.directory).open()
  const held = await talk(proxy.url)
  proxy.isStalled = true
  await held.ada.until(({ method, params }) => method === '_parley/server' && params?.['state'] === 'uncertain')
  // One that comes only now hears it too.
  const late = await held.one.client({ notifications: ['server'] })
  await late.until(({ method, params }) => method === '_parley/server' && params?.['state'] === 'uncertain')
  await expectsToGoOn(held, [held.bob])
  // It is cut off still, and has not heard of it.
  expect(held.one.server.child.exitCode).toBeNull()
  await held.one.kill()
  await proxy.close()
})

test('a node that still reaches a server of the database that was superseded hears of it, and stores nothing there', async () => {
  const primary = kept(await PostgresServer.start())
  const proxy = kept(await new DatabaseProxy(primary.directory).open())
  const env = { PARLEY_CLUSTER: proxy.url, PARLEY_CLUSTER_SCHEMA: 'parley' }
  await parley(['cluster', 'init'], { home: freshDirectory(), env })
  const cwd = freshDirectory()
  const agent = await scriptAgent(cwd, [{ chunk: 'Here.' }])
  const one = await TestNode.start('one', env)
  const ada = await one.client({ agent })
  const sessionId = await openedBy(ada, cwd)
  // Nothing has stopped the primary, and the node stays connected to it.
  const standby = kept(await primary.standby('near'))
  await standby.promote()
  proxy.leadTo(standby.directory)
  const two = await TestNode.start('two', env)
  expect(await one.server.finished).toMatchObject({ code: 1, stderr: expect.stringContaining('counted') as string })
  const bob = await two.client({ agent })
  await bob.request('session/resume', { sessionId, cwd, mcpServers: [] })
  expect((await bob.request('session/prompt', promptOf(sessionId, 'Go on'))).result).toEqual({ stopReason: 'end_turn' })
  const stored = await primary.query('SELECT 1 FROM parley.node WHERE NOT dead')
  expect(stored).toHaveLength(1)
  await two.kill()
})

test('a standby that is promoted without what was acknowledged last: clients of such a session hear so at once, and its node serves on', async () => {
  const primary = kept(await PostgresServer.start())
  const proxy = kept(await new DatabaseProxy(primary.directory).open())
  const env = { PARLEY_CLUSTER: proxy.url, PARLEY_CLUSTER_SCHEMA: 'parley' }
  await parley(['cluster', 'init'], { home: freshDirectory(), env })
  const cwd = freshDirectory()
  const one = await TestNode.start('one', env)
  const ada = await one.client({ agent: await scriptAgent(cwd, [{ chunk: 'Here. ' }]) })
  const [sessionId, whole] = [await openedBy(ada, cwd), await openedBy(ada, cwd)]
  const answered = async (session: string) =>
    (await ada.request('session/prompt', promptOf(session, 'Are you there?'))).result
  await Promise.all([sessionId, whole].map(answered))
  const standby = kept(await primary.standby('far'))
  await standby.query("ALTER SYSTEM SET primary_conninfo = ''")
  await standby.query('SELECT pg_reload_conf()')
  await expect.poll(() => primary.query('SELECT 1 FROM pg_stat_replication')).toEqual([])
  expect(await answered(sessionId)).toEqual({ stopReason: 'end_turn' })
  await primary.kill()
  await standby.promote()
  proxy.leadTo(standby.directory)
  await ada.until(({ params }) => JSON.stringify(params ?? {}).includes('"parley/phase":"closed"'))
  expect((await parley(['logs'], one.run)).stdout).toContain(`has lost the end of session ${sessionId}`)
  expect(await answered(whole)).toEqual({ stopReason: 'end_turn' })
  const back = await one.client()
  await back.request('session/load', { sessionId, cwd, mcpServers: [] })
  expect(said(back.received, sessionId)).toBe('Here. ')
  for (const text of ['And now?', 'And then?'])
    expect((await back.request('session/prompt', promptOf(sessionId, text))).result).toEqual({ stopReason: 'end_turn' })
  // The first of these entries have numbers that others had, so it gets none of them.
  await ada.request('session/list', {})
  expect(said(ada.received, sessionId)).toBe('Here. Here. ')
  await one.stop()
})

test('a prompt that waits because the standby of the database is away: its client hears so, and is answered later', async () => {
  const schema = server.schema()
  const env = { PARLEY_CLUSTER: server.url, PARLEY_CLUSTER_SCHEMA: schema }
  await parley(['cluster', 'init'], { home: freshDirectory(), env })
  const cwd = freshDirectory()
  const one = await TestNode.start('one', env)
  const agent = await scriptAgent(cwd, [{ chunk: 'Here.' }])
  const ada = await one.client({ agent, notifications: ['server'] })
  const sessionId = await openedBy(ada, cwd)
  await server.waitForOneThatIsAway()
  const prompt = ada.ask('session/prompt', promptOf(sessionId, 'Are you there?'))
  await ada.until(({ method, params }) => method === '_parley/server' && params?.['state'] === 'uncertain')
  expect(said(ada.received, sessionId)).toBe('')
  const asked = new Cli(['run', '--session', sessionId, 'And you?'], { ...one.run, cwd })
  await asked.untilError('The database does not answer; nothing new is stored until it does.')
  const status = await parley(['status'], one.run)
  expect(status.stdout).toContain('it has acknowledged nothing for some seconds')
  await server.set('synchronous_standby_names', "''")
  await ada.until(({ method, params }) => method === '_parley/server' && params?.['state'] === 'certain')
  expect((await ada.answerTo(prompt)).result).toEqual({ stopReason: 'end_turn' })
  expect(await asked.finished).toMatchObject({ code: 0, stderr: expect.stringContaining('answers again') as string })
  expect(said(ada.received, sessionId)).toMatch(/^Here\./u)
  await one.kill()
})

test('over TLS a client of one node lends its files to the agent of another', async () => {
  const env = { PARLEY_CLUSTER: server.url, PARLEY_CLUSTER_SCHEMA: server.schema() }
  await parley(['cluster', 'init'], { home: freshDirectory(), env })
  const { pem, key } = certificate()
  const tls = ['--tls-cert', pem, '--tls-key', key]
  const trusting: Environment = { ...env, NODE_EXTRA_CA_CERTS: pem }
  const cwd = freshDirectory()
  const agent = await scriptAgent(freshDirectory(), [{ readFile: { path: join(cwd, 'lent.txt') } }])
  const one = await TestNode.start('one', trusting, tls)
  const two = await TestNode.start('two', trusting, tls)

  const maker = await one.client({ agent })
  const sessionId = await openedBy(maker, cwd)
  const lender = await two.client({ capabilities: { fs: { readTextFile: true } } })
  await lender.request('session/load', { sessionId, cwd, mcpServers: [] })
  lender.listen(({ id, method }) => {
    if (method === 'fs/read_text_file') lender.reply(id, { content: 'what only the client has' })
  })
  const { result } = await lender.request('session/prompt', promptOf(sessionId, 'Read it'))
  expect(result).toEqual({ stopReason: 'end_turn' })
  expect(said(lender.received, sessionId)).toBe('what only the client has')
  const listed = await parley(['cluster', 'status', '--json'], one.run)
  expect(listed.stdout.match(/wss:/gu)).toHaveLength(2)
  for (const client of [maker, lender]) await client.leave()
})
