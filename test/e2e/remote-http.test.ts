/** Clients over Streamable HTTP, against the real binary on loopback: what is answered, what is refused, and what is resumed. */
import { type IncomingMessage, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { createHttpStream } from '@agentclientprotocol/sdk/experimental/http-client'
import { createWebSocketStream } from '@agentclientprotocol/sdk/experimental/ws-client'
import { type SessionNotification, client, methods } from '@agentclientprotocol/sdk'
import { beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { EventReader, HttpClient } from '../wire/raw-http.ts'
import { onceSoon } from '../wire/once-soon.ts'
import { parley } from './cli.ts'
import { type Fields, type Message, type SeenUpdate, textOf, updatesIn } from './message.ts'
import { promptOf } from './parley.ts'
import { type Remote, remote } from './remote-place.ts'
import { cleanUpSharedServers } from './server.ts'

cleanUpSharedServers()

const SCRIPT = [
  { chunk: 'one ' },
  { permission: { title: 'May I?', toolCallId: 'ask', toolCall: { name: 'echo', arguments: { text: 'it ran' } } } },
  { chunk: 'two' },
]

let server: Remote
let right: string

beforeAll(async () => {
  server = await remote([], { script: SCRIPT, env: { PARLEY_REMOTE_SESSIONS_PER_MINUTE: '1000' } })
  right = server.token('admin')
})

let names = 0
const freshToken = (): string => server.token('admin', `of-${(names += 1)}`)

let lastId = 0
function message(method: string, params: Fields): Fields & { readonly id: number } {
  return { jsonrpc: '2.0', id: (lastId += 1), method, params }
}

/** A client past its first exchange. */
class Connected {
  readonly http: HttpClient
  readonly headers: Readonly<Record<string, string>>

  private constructor(http: HttpClient, id: string) {
    this.http = http
    this.headers = { 'acp-connection-id': id }
  }

  static async open(token = right, { url, place } = server, clientCapabilities = {}): Promise<Connected> {
    const http = new HttpClient(url, token)
    const params = { protocolVersion: 1, clientCapabilities, _meta: { 'parley/agent': place.agent } }
    const { status, headers } = await http.post(JSON.stringify(message('initialize', params)))
    expect(status).toBe(200)
    return new Connected(http, String(headers['acp-connection-id']))
  }

  async stream(more: Readonly<Record<string, string>> = {}): Promise<EventReader> {
    const stream = await this.http.stream({ ...this.headers, ...more })
    if (stream instanceof EventReader) return stream
    throw new Error(`${stream.status} ${stream.text}`)
  }

  session(sessionId: string, lastEventId?: string): Promise<EventReader> {
    return this.stream({
      'acp-session-id': sessionId,
      ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
    })
  }

  async post(what: Fields, sessionId?: string): Promise<number> {
    const headers = { ...this.headers, ...(sessionId !== undefined && { 'acp-session-id': sessionId }) }
    return (await this.http.post(JSON.stringify(what), headers)).status
  }

  /** Of a new session. */
  async newSession(own: EventReader): Promise<string> {
    const asked = message('session/new', { cwd: server.place.cwd, mcpServers: [] })
    expect(await this.post(asked)).toBe(202)
    const answer = await untilMessage(own, ({ id }) => id === asked.id)
    return String(answer.result?.['sessionId'])
  }
}

const messagesIn = (stream: EventReader, from = 0): Message[] =>
  stream.events.slice(from).map(({ data }) => JSON.parse(data) as Message)

const isOfAgent = ({ update }: SeenUpdate): boolean => update.sessionUpdate === 'agent_message_chunk'

async function untilMessage(stream: EventReader, fits: (one: Message) => boolean): Promise<Message> {
  for (let from = 0; ;) {
    const { length } = stream.events
    const found = messagesIn(stream, from).find(fits)
    if (found !== undefined) return found
    from = length
    await stream.until(length + 1)
  }
}

const isAsking = ({ method }: Message): boolean => method === 'session/request_permission'

test('a load comes whole to a reader that was gone when it began, and goes on after an event from before it', async () => {
  const ada = await Connected.open()
  const sessionId = await ada.newSession(await ada.stream())
  const before = await ada.session(sessionId)
  const prompt = message('session/prompt', promptOf(sessionId, 'Hi'))
  await ada.post(prompt, sessionId)
  const { id } = await untilMessage(before, isAsking)
  await ada.post({ jsonrpc: '2.0', id, result: { outcome: { outcome: 'selected', optionId: 'allow_once' } } })
  await untilMessage(before, (one) => one.id === prompt.id)
  before.response.destroy()
  await before.closed
  const load = message('session/load', { sessionId, cwd: server.place.cwd, mcpServers: [] })
  await ada.post(load, sessionId)
  // All of it waits for the reader by then.
  await sleep(200)
  const after = await ada.session(sessionId, before.lastId)
  await untilMessage(after, (one) => one.id === load.id)
  const said = (stream: EventReader) => updatesIn(messagesIn(stream)).filter(isOfAgent).map(textOf).join('')
  expect(said(after)).toBe(said(before))
  expect(said(after)).not.toBe('')
  // An event of this load is not taken for the one before it of the same entry.
  const last = await ada.session(sessionId, after.events[0]?.id)
  await untilMessage(last, (one) => one.id === load.id)
  expect(messagesIn(last)).toEqual(messagesIn(after).slice(1))
})

test('a session is started, prompted, asked and answered; its stream is numbered by its entries', async () => {
  const ada = await Connected.open()
  const own = await ada.stream()
  const sessionId = await ada.newSession(own)
  const stream = await ada.session(sessionId)
  const prompt = message('session/prompt', promptOf(sessionId, 'Hi'))
  expect(await ada.post(prompt, sessionId)).toBe(202)
  const { id } = await untilMessage(stream, isAsking)
  expect(
    await ada.post({ jsonrpc: '2.0', id, result: { outcome: { outcome: 'selected', optionId: 'allow_once' } } }),
  ).toBe(202)
  const answer = await untilMessage(stream, (one) => one.id === prompt.id)
  expect(answer.result).toMatchObject({ stopReason: 'end_turn' })
  for (const event of stream.events) {
    const { params } = JSON.parse(event.data) as Message
    const seq = (params?.['_meta'] as Fields | undefined)?.['parley/seq']
    expect(event.id).toMatch(seq === undefined ? /^\d+\.\d+$/u : new RegExp(`^${Number(seq)}(?:\\.\\d+)?$`, 'u'))
  }
  expect(messagesIn(own).map((one) => one.id)).toEqual([expect.any(Number)])
  expect(own.events[0]?.id).toBe('1')
  expect(await ada.http.ask('DELETE', ada.headers)).toMatchObject({ status: 202 })
  await Promise.all([own.closed, stream.closed])
  expect(await ada.post(prompt, sessionId)).toBe(404)
  // The session is still there, and both the replay and its answer come on its stream.
  const bob = await Connected.open()
  const again = await bob.session(sessionId)
  const load = message('session/load', { sessionId, cwd: server.place.cwd, mcpServers: [] })
  expect(await bob.post(load, sessionId)).toBe(202)
  await untilMessage(again, (one) => one.id === load.id)
  const texts = again.events.map(({ data }) => data)
  expect(texts.findIndex((text) => text.includes('"two"'))).toBeLessThan(
    texts.findIndex((text) => text.includes(`"id":${load.id}`)),
  )
})

describe('a stream that breaks off', () => {
  test('goes on after its last event, from memory and from the journal, and nothing comes twice', async () => {
    const ada = await Connected.open(freshToken())
    const own = await ada.stream()
    const sessionId = await ada.newSession(own)
    const [first, witness] = [await ada.session(sessionId), await Connected.open(freshToken())]
    const whole = await witness.session(sessionId)
    const load = message('session/load', { sessionId, cwd: server.place.cwd, mcpServers: [] })
    await witness.post(load, sessionId)
    await untilMessage(whole, (one) => one.id === load.id)
    const prompt = message('session/prompt', promptOf(sessionId, 'Hi'))
    await ada.post(prompt, sessionId)
    const { id } = await untilMessage(first, isAsking)
    first.response.destroy()
    await first.closed
    await ada.post({ jsonrpc: '2.0', id, result: { outcome: { outcome: 'selected', optionId: 'allow_once' } } })
    await untilMessage(whole, (one) => JSON.stringify(one).includes('"two"'))
    const second = await ada.session(sessionId, first.lastId)
    await untilMessage(second, (one) => one.id === prompt.id)
    // Without its second half, as if that had been lost on the way: it comes once more.
    const [cut] = first.events
    const third = await ada.session(sessionId, cut?.id)
    await untilMessage(third, (one) => one.id === prompt.id)
    const ids = [...first.events, ...second.events].map((event) => event.id)
    expect(new Set(ids).size).toBe(ids.length)
    expect(third.events.map((event) => event.id)).toEqual(ids.slice(1))
    // Of a connection that begins anew, from the journal alone.
    const bob = await Connected.open(freshToken())
    const late = await bob.session(sessionId, cut?.id)
    const reload = message('session/load', { sessionId, cwd: server.place.cwd, mcpServers: [] })
    await bob.post(reload, sessionId)
    await untilMessage(late, (one) => one.id === reload.id)
    const seqs = late.events.map((event) => Number(event.id))
    expect(Math.min(...seqs)).toBeGreaterThan(Number(cut?.id?.split('.')[0]))
    expect(late.events.map(({ data }) => data).join('')).toContain('"two"')
  })

  test('and begins anew, hears once how a permission request ended', async () => {
    const ada = await Connected.open(freshToken(), server, { _meta: { 'parley/notifications': ['resolved'] } })
    const sessionId = await ada.newSession(await ada.stream())
    const first = await ada.session(sessionId)
    const prompt = message('session/prompt', promptOf(sessionId, 'Hi'))
    await ada.post(prompt, sessionId)
    const { id } = await untilMessage(first, isAsking)
    await ada.post({ jsonrpc: '2.0', id, result: { outcome: { outcome: 'selected', optionId: 'allow_once' } } })
    await untilMessage(first, (one) => one.id === prompt.id)
    const again = await ada.session(sessionId, '1')
    await untilMessage(again, (one) => one.id === prompt.id)
    const resolved = again.events.filter(({ data }) => data.includes('"_parley/resolved"'))
    const { params } = JSON.parse(resolved[0]?.data ?? '{}') as Message
    expect(resolved.map((event) => event.id)).toEqual([String(params?.['seq'])])
  })

  test('and missed more than is kept, goes on from the journal while the agent speaks, in order', async () => {
    const script = [{ chunk: '{n} ', times: 1_500, everyMs: 1 }]
    const talking = await remote([], { script, env: { PARLEY_REMOTE_REQUESTS_PER_SECOND: '1000' } })
    const ada = await Connected.open(talking.token('admin'), talking)
    const sessionId = await ada.newSession(await ada.stream())
    const first = await ada.session(sessionId)
    const prompt = message('session/prompt', promptOf(sessionId, 'Count'))
    await ada.post(prompt, sessionId)
    await first.until(800)
    // All but the tenth event and those before it were lost on the way; a first attempt to read on is given up at once.
    const last = first.events[9]?.id ?? ''
    const [, whole] = await Promise.all([ada.session(sessionId, last).catch(String), ada.session(sessionId, last)])
    await untilMessage(whole, (one) => one.id === prompt.id)
    const places = whole.events.map(({ id = '' }) => id.split('.').map(Number))
    expect(places).toEqual(places.toSorted(([a = 0, b = 0], [c = 0, d = 0]) => a - c || b - d))
    const seen = updatesIn([...messagesIn(first).slice(0, 10), ...messagesIn(whole)]).filter(isOfAgent)
    const numbers = seen.map(textOf).join('').trim().split(' ').map(Number)
    const wrong = numbers.findIndex((number, index) => number !== index + 1)
    expect([wrong, numbers.length]).toEqual([-1, 1_500])
    expect(messagesIn(whole).at(-1)?.id).toBe(prompt.id)
  })

  test('and names an event that never was, is told so', async () => {
    const ada = await Connected.open(freshToken())
    const own = await ada.stream()
    const sessionId = await ada.newSession(own)
    const ask = (more: Readonly<Record<string, string>>) => ada.http.stream({ ...ada.headers, ...more })
    expect(await ask({ 'last-event-id': '99' })).toMatchObject({ status: 409 })
    expect(await ask({ 'last-event-id': 'x\u0020y' })).toMatchObject({ status: 409 })
    expect(await ask({ 'acp-session-id': 'another', 'last-event-id': '' })).toBeInstanceOf(EventReader)
    expect(await ask({ 'acp-session-id': sessionId, 'last-event-id': '9999' })).toMatchObject({
      status: 409,
      text: expect.stringContaining('CURSOR_BEYOND'),
    })
  })

  test('is read by one reader, unless the next says what it has', async () => {
    const ada = await Connected.open(freshToken())
    const own = await ada.stream()
    expect(await ada.http.stream(ada.headers)).toMatchObject({ status: 409 })
    const next = await ada.http.stream({ ...ada.headers, 'last-event-id': '0' })
    expect(next).toBeInstanceOf(EventReader)
    await own.closed
  })
})

test('one token has at most 64 streams, and takes none from another', async () => {
  const [ada, bob] = [await Connected.open(freshToken()), await Connected.open(freshToken())]
  const streams: EventReader[] = []
  for (let n = 0; n < 64; n += 1) streams.push(await ada.session(`none-${n}`))
  await expect(ada.session('none-64')).rejects.toThrow('429 This access token has 64 open streams already')
  await bob.stream()
  streams[0]?.response.destroy()
  await expect.poll(() => ada.session('none-64')).toBeInstanceOf(EventReader)
})

describe('a request', () => {
  test('that is not as the protocol says is refused in one line', async () => {
    const ada = await Connected.open(freshToken())
    const list = JSON.stringify(message('session/list', {}))
    const about = JSON.stringify(message('session/close', { sessionId: 'x' }))
    const { http, headers } = ada
    const statusOf = async (answer: Promise<unknown>) => ((await answer) as { readonly status: number }).status
    expect(await statusOf(http.post(list, { 'content-type': 'text/plain' }))).toBe(415)
    expect(await statusOf(http.post(list, { ...headers, 'content-encoding': 'gzip' }))).toBe(415)
    expect(await statusOf(http.post(list))).toBe(400)
    expect(await statusOf(http.post(list, { 'acp-connection-id': 'x' }))).toBe(404)
    expect(await statusOf(http.post(about, headers))).toBe(400)
    expect(await statusOf(http.post(about, { ...headers, 'acp-session-id': 'y' }))).toBe(400)
    expect(await statusOf(http.ask('PUT', headers))).toBe(405)
    expect(await statusOf(http.ask('DELETE', {}))).toBe(400)
    expect(await statusOf(http.ask('DELETE', { 'acp-connection-id': 'x' }))).toBe(404)
    expect(await statusOf(http.ask('GET', headers))).toBe(406)
    expect(await statusOf(http.stream({}))).toBe(400)
    expect(await statusOf(http.stream({ 'acp-connection-id': 'x' }))).toBe(404)
    expect(await statusOf(http.post(`{"x":"${'x'.repeat(64 * 1024)}"}`))).toBe(413)
    expect(await http.post(`[${list}]`, headers)).toMatchObject({
      status: 400,
      text: expect.stringContaining('-32600'),
    })
    expect(await http.post('{', headers)).toMatchObject({ status: 400, text: expect.stringContaining('-32700') })
    expect(await statusOf(http.post(list, { ...headers, 'content-type': 'application/json; charset=utf-8' }))).toBe(202)
  })

  test('whose connection ends while its body arrives is refused, since its message was not taken', async () => {
    const token = freshToken()
    const ada = await Connected.open(token)
    const body = JSON.stringify(message('session/list', {}))
    const length = { 'content-length': body.length, 'content-type': 'application/json' }
    const headers = { ...ada.headers, ...length, authorization: `Bearer ${token}`, expect: '100-continue' }
    const slow = request(ada.http.url, { method: 'POST', headers, agent: false })
    slow.flushHeaders()
    await onceSoon(slow, 'continue')
    expect((await ada.http.ask('DELETE', ada.headers)).status).toBe(202)
    slow.end(body)
    const [response] = (await onceSoon(slow, 'response')) as [IncomingMessage]
    response.resume()
    expect(response.statusCode).toBe(404)
  })

  test("of another holder does not find one's connection", async () => {
    const ada = await Connected.open(freshToken())
    const other = new HttpClient(server.url, freshToken())
    const list = JSON.stringify(message('session/list', {}))
    expect(await other.post(list, ada.headers)).toMatchObject({ status: 404 })
    expect(await other.stream(ada.headers)).toMatchObject({ status: 404 })
    expect(await other.ask('DELETE', ada.headers)).toMatchObject({ status: 404 })
  })
})

test('a token that is removed ends streams while they are read, and says why', async () => {
  const token = server.token('admin', 'revoked')
  const ada = await Connected.open(token)
  const own = await ada.stream()
  const stream = await ada.session(await ada.newSession(own))
  expect(await parley(['token', 'rm', 'revoked'], { home: server.place.home })).toMatchObject({ code: 0 })
  await Promise.all([own.closed, stream.closed])
  for (const one of [own, stream]) expect(one.remarks.at(-1)).toMatch(/^4401 /u)
  expect((await ada.http.post('{}', ada.headers)).status).toBe(401)
})

test.each(['HTTP', 'WebSocket'])('the client of the SDK works a whole session over %s', async (kind) => {
  const headers = { authorization: `Bearer ${freshToken()}` }
  const stream =
    kind === 'HTTP'
      ? createHttpStream(server.url.replace(/^ws/u, 'http'), { headers })
      : createWebSocketStream(server.url, { headers, WebSocket })
  const told: SessionNotification[] = []
  let decide = (): Promise<void> => Promise.resolve()
  const app = client({ name: 'sdk' })
    .onRequest(methods.client.session.requestPermission, async () => {
      await decide()
      return { outcome: { outcome: 'selected', optionId: 'allow_once' } }
    })
    .onNotification(methods.client.session.update, ({ params }) => void told.push(params))
  await app.connectWith(stream, async (agent) => {
    const _meta = { 'parley/agent': server.place.agent }
    await agent.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities: {}, _meta })
    const { sessionId } = await agent.request(methods.agent.session.new, { cwd: server.place.cwd, mcpServers: [] })
    const prompt = { sessionId, prompt: [{ type: 'text' as const, text: 'go' }] }
    expect(await agent.request(methods.agent.session.prompt, prompt)).toMatchObject({ stopReason: 'end_turn' })
    expect(textIn(told)).toBe('one two')
    told.splice(0)
    await agent.request(methods.agent.session.load, { sessionId, cwd: server.place.cwd, mcpServers: [] })
    expect(textIn(told)).toBe('goone two')
    await agent.request(methods.agent.session.resume, { sessionId, cwd: server.place.cwd, mcpServers: [] })
    expect(textIn(told)).toBe('goone two')
    // This question is cancelled before it is answered.
    decide = () => agent.notify(methods.agent.session.cancel, { sessionId }).then(() => new Promise(() => undefined))
    expect(await agent.request(methods.agent.session.prompt, prompt)).toMatchObject({ stopReason: 'cancelled' })
    const { sessions } = await agent.request(methods.agent.session.list, {})
    expect(sessions.map((one) => one.sessionId)).toContain(sessionId)
    await agent.request(methods.agent.session.close, { sessionId })
    await agent.request(methods.agent.session.delete, { sessionId: 'never-was' })
    await expect(agent.request(methods.agent.session.prompt, { ...prompt, sessionId: 'never-was' })).rejects.toThrow(
      /never-was/u,
    )
    await agent.request(methods.agent.session.delete, { sessionId })
  })
})

function textIn(told: readonly SessionNotification[]): string {
  return told
    .map(({ update }) => ('messageId' in update && 'text' in update.content ? update.content.text : ''))
    .join('')
}
