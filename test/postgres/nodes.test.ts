/** Several nodes serve one cluster at once: a client at any of them has every session, and goes on when the node of a session dies. */
import { writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { endServers, parley } from '../e2e/cli.ts'
import type { Fields } from '../e2e/message.ts'
import { freshDirectory, promptOf, scriptAgent } from '../e2e/parley.ts'
import type { RawSocket } from '../e2e/raw-socket.ts'
import { freePort } from '../fixtures/process/free-port.ts'
import { ScriptedPushService } from '../page/push-service.ts'
import { type Environment, TestNode, cursorsIn, openedBy, said } from './nodes.ts'
import { PostgresServer } from './server.ts'

endServers()

let server: PostgresServer

beforeAll(async () => {
  server = await PostgresServer.start()
})

afterAll(() => server.close())

interface Cluster {
  readonly env: Environment
  readonly schema: string
  /** Of all sessions; all nodes have it. */
  readonly cwd: string
}

async function newCluster(): Promise<Cluster> {
  const schema = server.schema()
  const env = { PARLEY_CLUSTER: server.url, PARLEY_CLUSTER_SCHEMA: schema }
  expect(await parley(['cluster', 'init'], { home: freshDirectory(), env })).toMatchObject({ code: 0 })
  return { env, schema, cwd: freshDirectory() }
}

const startTwo = ({ env }: Cluster) => Promise.all([TestNode.start('one', env), TestNode.start('two', env)])

const ASKS = { permission: { title: 'May I?', options: [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }] } }

/** A session of a client at one node that a client at the other has open too. */
async function sharedSession(...script: readonly Fields[]) {
  const cluster = await newCluster()
  const { cwd } = cluster
  const [one, two] = await startTwo(cluster)
  const ada = await one.client({ agent: await scriptAgent(cwd, script) })
  const bob = await two.client()
  const sessionId = await openedBy(ada, cwd)
  await bob.request('session/resume', { sessionId, cwd, mcpServers: [] })
  return { cluster, cwd, one, two, ada, bob, sessionId }
}

/** Each entry came once and in its order. */
function isInOrder({ received }: RawSocket, sessionId: string): boolean {
  const cursors = cursorsIn(received, sessionId)
  return cursors.every((cursor, at) => at === 0 || cursor > (cursors[at - 1] ?? 0))
}

describe.concurrent('two nodes', () => {
  test.concurrent('serve at once: what one makes, a client of the other lists, loads, prompts, cancels, renames and deletes', async ({
    expect,
  }) => {
    const cluster = await newCluster()
    const { cwd } = cluster
    const [one, two] = await startTwo(cluster)
    const agent = await scriptAgent(cwd, [{ chunk: 'Part {n}. ', times: 3 }])
    const ada = await one.client({ agent })
    const bob = await two.client({ notifications: ['presence'] })
    const eve = await two.client({ notifications: ['sessions'] })
    const sessionId = await openedBy(ada, cwd)
    expect((await ada.request('session/prompt', promptOf(sessionId, 'Talk'))).result).toEqual({
      stopReason: 'end_turn',
    })
    const listed = await bob.request('session/list', {})
    expect(listed.result).toMatchObject({ sessions: [{ sessionId, cwd }] })
    const loaded = await bob.request('session/load', { sessionId, cwd, mcpServers: [] })
    expect(loaded.error).toBeUndefined()
    expect(said(bob.received, sessionId)).toBe('Part 1. Part 2. Part 3. ')
    expect((await bob.request('session/prompt', promptOf(sessionId, 'More'))).result).toEqual({
      stopReason: 'end_turn',
    })
    const twice = 'Part 1. Part 2. Part 3. '.repeat(2)
    await expect.poll(() => said(ada.received, sessionId)).toBe(twice)
    expect(said(bob.received, sessionId)).toBe(twice)
    expect((await bob.request('_parley/rename', { sessionId, title: 'Ours' })).error).toBeUndefined()
    // What the list of this client shows was made at the other node, and changes and goes there.
    await eve.until(({ method, params }) => method === '_parley/sessions' && JSON.stringify(params).includes('"Ours"'))
    const again = await ada.request('session/list', {})
    expect(again.result).toMatchObject({ sessions: [{ sessionId, title: 'Ours' }] })
    // Its link is made at a node that does not have the session.
    const shared = await bob.request('_parley/access/share', { sessionId, hours: 1 })
    const links = await bob.request('_parley/access/list', {})
    expect(links.result).toMatchObject({ shares: [{ id: shared.result?.['id'], sessionId }] })
    expect((await bob.request('session/delete', { sessionId })).error).toBeUndefined()
    expect((await ada.request('session/list', {})).result).toMatchObject({ sessions: [] })
    const gone = await bob.request('session/load', { sessionId, cwd, mcpServers: [] })
    expect(gone.error?.data).toMatchObject({ code: 'SESSION_NOT_FOUND' })
    await eve.until(({ params }) => JSON.stringify(params?.['removed'] ?? '').includes(sessionId))
  })

  test.concurrent('a question reaches clients of both, and the answer of one counts', async () => {
    const { ada, bob, sessionId } = await sharedSession(ASKS, { chunk: 'Thank you.' })
    const asked = bob.ask('session/prompt', promptOf(sessionId, 'Ask us'))
    const isQuestion = ({ method }: { readonly method?: string }) => method === 'session/request_permission'
    const [toAda, toBob] = await Promise.all([ada.until(isQuestion), bob.until(isQuestion)])
    bob.reply(toBob.id, { outcome: { outcome: 'selected', optionId: 'yes' } })
    expect((await bob.answerTo(asked)).result).toEqual({ stopReason: 'end_turn' })
    await ada.until(({ method, params }) => method === '$/cancel_request' && params?.['requestId'] === toAda.id)
    expect(said(bob.received, sessionId)).toBe('Thank you.')
  })
})

test.concurrent('a device that has subscribed at one node hears of a question at the other, and its answer counts there', async ({
  expect,
}) => {
  const { env, cwd } = await newCluster()
  const [port, service] = [await freePort(), await ScriptedPushService.start()]
  const remote = { PARLEY_LISTEN: String(port), PARLEY_PUSH_SERVICES: service.origin }
  const [one] = await Promise.all([TestNode.start('one', env), TestNode.start('two', { ...env, ...remote })])
  const origin = `http://127.0.0.1:${port}`
  const { stdout: token } = await parley(['token', 'add', 'phone', '--role', 'admin'], one.run)
  const authorization = `Bearer ${token.trim()}`
  const headers = { authorization, origin, 'content-type': 'application/json' }
  const post = async (path: string, body: object): Promise<unknown> =>
    (await fetch(`${origin}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })).json()
  const { endpoint, keys } = service.subscription
  expect(await post('/push', { endpoint, ...keys, answers: true })).toMatchObject({ on: true })
  const kinds = ['allow_once', 'allow_always', 'reject_once'] as const
  const options = kinds.map((kind) => ({ optionId: kind, name: kind, kind }))
  const asks = { permission: { title: 'May I?', options } }
  const ada = await one.client({ agent: await scriptAgent(cwd, [asks, { chunk: 'Thank you.' }]) })
  const sessionId = await openedBy(ada, cwd)
  const asked = ada.ask('session/prompt', promptOf(sessionId, 'Ask us'))
  await expect.poll(() => service.delivered).toMatchObject([{ kind: 'waits', session: sessionId, what: 'May I?' }])
  expect(await post('/answer', { ticket: service.delivered[0]?.ticket, optionId: 'allow_once' })).toEqual({
    counted: true,
  })
  expect((await ada.answerTo(asked)).result).toEqual({ stopReason: 'end_turn' })
  service.close()
})

describe.concurrent('a node that dies', () => {
  test.concurrent('in a turn: clients of another node see it interrupted, each entry once, and go on there', async ({
    expect,
  }) => {
    const { cwd, one, two, bob, sessionId } = await sharedSession({ chunk: 'w{n} ', times: 2_000, everyMs: 5 })
    const prompt = bob.ask('session/prompt', promptOf(sessionId, 'Talk'))
    await expect.poll(() => said(bob.received, sessionId)).toContain('w50 ')
    await one.kill()
    expect((await bob.answerTo(prompt)).error?.data).toMatchObject({ code: 'TURN_INTERRUPTED' })
    expect(isInOrder(bob, sessionId)).toBe(true)
    await writeFile(join(cwd, 'script.jsonl'), `${JSON.stringify({ chunk: 'Here again.' })}\n`)
    expect((await bob.request('session/prompt', promptOf(sessionId, 'And now?'))).result).toEqual({
      stopReason: 'end_turn',
    })
    expect(said(bob.received, sessionId)).toMatch(/Here again\.$/u)
    const whole = await two.client()
    await whole.request('session/load', { sessionId, cwd, mcpServers: [] })
    // A load also shows that the turn was interrupted.
    const words = ({ received }: RawSocket) => said(received, sessionId).match(/w\d+ |Here again\./gu)
    expect(words(whole)).toEqual(words(bob))
  })

  test.concurrent('only for a while, because it hangs: it stores nothing more, and ends when it finds that others went on', async ({
    expect,
  }) => {
    const { cluster, one, bob, sessionId } = await sharedSession({ chunk: 'w{n} ', times: 20_000, everyMs: 5 })
    const prompt = bob.ask('session/prompt', promptOf(sessionId, 'Talk'))
    await expect.poll(() => said(bob.received, sessionId)).toContain('w50 ')
    one.server.child.kill('SIGSTOP')
    expect((await bob.answerTo(prompt)).error?.data).toMatchObject({ code: 'TURN_INTERRUPTED' })
    const rename = { sessionId, title: 'Ours' }
    expect((await bob.request('_parley/rename', rename)).error).toBeUndefined()
    const stored = await entriesIn(cluster, sessionId)
    one.server.child.kill('SIGCONT')
    expect(await one.server.finished).toMatchObject({ code: 1, stderr: expect.stringContaining('counted') as string })
    expect(await entriesIn(cluster, sessionId)).toEqual(stored)
    expect(isInOrder(bob, sessionId)).toBe(true)
  })

  test.concurrent('while a question waits: it is asked again by another node, and the prompt ends once', async ({
    expect,
  }) => {
    const { one, bob, sessionId } = await sharedSession(ASKS, { chunk: 'Thank you.' })
    const prompt = bob.ask('session/prompt', promptOf(sessionId, 'Ask me'))
    const questions = () => bob.received.filter(({ method }) => method === 'session/request_permission')
    await expect.poll(() => questions().length).toBe(1)
    await one.kill()
    await expect.poll(() => questions().length).toBe(2)
    bob.reply(questions()[1]?.id ?? null, { outcome: { outcome: 'selected', optionId: 'yes' } })
    await bob.answerTo(prompt)
    expect(bob.received.filter(({ id, method }) => id === prompt && method === undefined)).toHaveLength(1)
  })

  test.concurrent('without clients: another node ends what it left open', async ({ expect }) => {
    const cluster = await newCluster()
    const { cwd } = cluster
    const [one, two] = await startTwo(cluster)
    const agent = await scriptAgent(cwd, [{ chunk: 'Begun.' }, { sleepMs: 600_000 }])
    const ada = await one.client({ agent })
    const sessionId = await openedBy(ada, cwd)
    ada.ask('session/prompt', promptOf(sessionId, 'Work'))
    await expect.poll(() => said(ada.received, sessionId)).toBe('Begun.')
    await one.kill()
    const shown = async () => (await parley(['show', sessionId], two.run)).stdout
    await expect.poll(shown, { interval: 300 }).toContain('Interrupted')
  })
})

describe.concurrent('a session that moves', () => {
  test.concurrent('does so between two turns: the clients of both nodes notice nothing, and go on', async ({
    expect,
  }) => {
    const { cluster, one, ada, bob, sessionId } = await sharedSession({ chunk: 'w{n} ', times: 100, everyMs: 10 })
    const prompt = ada.ask('session/prompt', promptOf(sessionId, 'Talk'))
    await expect.poll(() => said(bob.received, sessionId)).toContain('w5 ')
    const moved = parley(['cluster', 'move', sessionId, 'two'], one.run)
    expect((await ada.answerTo(prompt)).result).toEqual({ stopReason: 'end_turn' })
    expect(await moved).toMatchObject({ code: 0, stderr: '' })
    expect(await ownersOf(cluster, sessionId)).toEqual(['two'])
    for (const client of [ada, bob])
      expect((await client.request('session/prompt', promptOf(sessionId, 'More'))).result).toEqual({
        stopReason: 'end_turn',
      })
    const words = Array.from({ length: 100 }, (_, index) => `w${index + 1} `).join('')
    for (const client of [ada, bob]) {
      await expect.poll(() => said(client.received, sessionId)).toBe(words.repeat(3))
      expect(isInOrder(client, sessionId)).toBe(true)
    }
    expect(await parley(['cluster', 'move', sessionId, 'three'], one.run)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('No node three') as string,
    })
  })

  test.concurrent('because its node drains: turns end, questions wait on, new sessions are made elsewhere', async ({
    expect,
  }) => {
    const cluster = await newCluster()
    const { cwd } = cluster
    const [one, two] = await startTwo(cluster)
    const [talks, waits, works] = [freshDirectory(), freshDirectory(), freshDirectory()]
    const long = await scriptAgent(works, [{ chunk: 'Begun.' }, { sleepMs: 600_000 }])
    const ada = await one.client({ agent: await scriptAgent(talks, [{ chunk: 'w{n} ', times: 100, everyMs: 10 }]) })
    const eve = await one.client({ agent: await scriptAgent(waits, [ASKS, { chunk: 'Thank you.' }]) })
    const max = await one.client({ agent: long })
    const [talking, waiting, working] = [await openedBy(ada, cwd), await openedBy(eve, cwd), await openedBy(max, cwd)]
    // Of the node, and not in its memory.
    const closed = await openedBy(ada, cwd)
    await ada.request('session/close', { sessionId: closed })
    const work = max.ask('session/prompt', promptOf(working, 'Work'))
    const idle = await Promise.all(Array.from({ length: 5 }, () => openedBy(ada, cwd)))
    const talk = ada.ask('session/prompt', promptOf(talking, 'Talk'))
    eve.ask('session/prompt', promptOf(waiting, 'Ask'))
    const questions = () => eve.received.filter(({ method }) => method === 'session/request_permission')
    await expect.poll(() => questions().length).toBe(1)
    const drained = parley(['cluster', 'drain', 'one'], two.run)
    expect((await ada.answerTo(talk)).result).toEqual({ stopReason: 'end_turn' })
    const given = [talking, waiting, ...idle]
    await expect.poll(() => ownersOf(cluster, ...given)).toEqual(given.map(() => 'two'))
    // A turn still runs here, so the drain goes on; what is opened meanwhile is opened elsewhere.
    await ada.request('session/resume', { sessionId: closed, cwd, mcpServers: [] })
    expect(await ownersOf(cluster, closed, working)).toEqual(expect.arrayContaining(['one', 'two']))
    max.notify('session/cancel', { sessionId: working })
    expect((await max.answerTo(work)).result).toEqual({ stopReason: 'cancelled' })
    expect(await drained).toMatchObject({ code: 0, stderr: '' })
    expect(await ownersOf(cluster, closed, working)).toEqual(['two', 'two'])
    await expect.poll(() => questions().length).toBe(2)
    const made = await openedBy(ada, cwd)
    expect(await ownersOf(cluster, made)).toEqual(['two'])
    for (const sessionId of [made, ...idle])
      expect((await ada.request('session/prompt', promptOf(sessionId, 'Talk'))).result).toEqual({
        stopReason: 'end_turn',
      })
    expect(ada.received.filter(({ error }) => error !== undefined)).toEqual([])
  })
})

test.concurrent('a node refuses connections without the secret of the cluster, and pages of browsers', async () => {
  const { env, schema } = await newCluster()
  const node = await TestNode.start('one', env)
  const [{ address, token } = {}] = await server.query(
    `SELECT n.record::json->>'address' AS address, m.value AS token FROM ${schema}.node n, ${schema}.meta m WHERE m.name = 'node_token'`,
  )
  const principal = { transport: 'unix socket', isLocalUser: true, role: 'admin' } as const
  const knock = (secret: string, origin?: string) => statusOf(String(address), { secret, principal, origin })
  expect(await knock(String(token))).toBe(101)
  expect(await knock(`${String(token)}x`)).toBe(401)
  expect(await knock('')).toBe(401)
  expect(await knock(String(token), 'https://page.example')).toBe(401)
  await node.stop()
})

interface Knock {
  readonly secret: string
  readonly principal: object
  readonly origin: string | undefined
}

/** What a node answers to a WebSocket. */
async function statusOf(address: string, { secret, principal, origin }: Knock): Promise<number | undefined> {
  const asking = request(`${address.replace('ws:', 'http:')}/node`, {
    headers: {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
      authorization: `Bearer ${secret}`,
      'parley-on-behalf': Buffer.from(JSON.stringify({ principal })).toString('base64url'),
      ...(origin !== undefined && { origin }),
    },
  }).end()
  return new Promise((resolve, reject) => {
    asking.once('error', reject)
    asking.once('response', (response) => {
      response.destroy()
      resolve(response.statusCode)
    })
    asking.once('upgrade', ({ statusCode }, socket) => {
      socket.destroy()
      resolve(statusCode)
    })
  })
}

/** The rows of a session's entries. */
function entriesIn({ schema }: Cluster, sessionId: string): Promise<readonly unknown[]> {
  return server.query(
    `SELECT e.first, e.epoch FROM ${schema}.entry e JOIN ${schema}.session s ON s.key = e.session WHERE s.id = $1 ORDER BY e.first`,
    [sessionId],
  )
}

/** The names of the nodes that have these sessions. */
async function ownersOf({ schema }: Cluster, ...sessions: readonly string[]): Promise<readonly unknown[]> {
  const rows = await server.query(
    `SELECT n.record::json->>'name' AS name FROM ${schema}.session s JOIN ${schema}.node n ON n.boot = s.boot WHERE s.id = ANY($1)`,
    [sessions],
  )
  return rows.map(({ name }) => name)
}
