/** Files, terminals and input of plain clients of a real server, each on its own socket or behind its own relay. */
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { PerTest } from '../fixtures/process/per-test.ts'
import { serveHere } from './hosted-server.ts'
import { type Fields, type Message, textOf, updatesIn } from './message.ts'
import { newSession, promptOf } from './parley.ts'
import type { RawClient } from './raw-client.ts'
import { RawSocket } from './raw-socket.ts'
import { cleanUp as cleanUpRelays, killServer, placeWith as relayPlace, startRelay } from './relays.ts'
import { type Place, cleanUpServers, placeWith } from './server.ts'

cleanUpServers()
cleanUpRelays()

const ALL = { fs: { readTextFile: true, writeTextFile: true }, terminal: true, elicitation: { form: {}, url: {} } }
const clients = new PerTest<RawSocket>(async (opened) => {
  for (const client of opened) await client.leave()
})
clients.closeAfterEach()

async function connect({ socket }: Place): Promise<RawSocket> {
  const client = await RawSocket.open(socket, { capabilities: ALL })
  clients.add(client)
  return client
}

interface Company {
  readonly ada: RawSocket
  readonly bob: RawSocket
  readonly sessionId: string
}

/** Two clients of one server that can both do everything, in one session. */
async function company(place: Place, mcpServers: readonly Fields[] = []): Promise<Company> {
  await serveHere(place)
  const [ada, bob] = [await connect(place), await connect(place)]
  const { result } = await ada.request('session/new', { cwd: place.cwd, mcpServers })
  const sessionId = String(result?.['sessionId'])
  await bob.request('session/load', { sessionId, cwd: place.cwd, mcpServers: [] })
  return { ada, bob, sessionId }
}

type Client = Pick<RawClient, 'received' | 'until' | 'send'>

const isCall =
  (method: string) =>
  (message: Message): boolean =>
    message.method === method && message.id !== undefined
const calls = ({ received }: Client, method = ''): readonly Message[] =>
  received.filter((message) => message.id !== undefined && message.method?.startsWith(method) === true)
const said = ({ received }: Client): string =>
  updatesIn(received)
    .filter(({ update }) => update.sessionUpdate === 'agent_message_chunk')
    .map(textOf)
    .join('')
const has =
  (words: string) =>
  (message: Message): boolean =>
    JSON.stringify(message).includes(words)

async function answer(client: Client, method: string, result: unknown): Promise<Message> {
  const call = await client.until(isCall(method))
  client.send({ id: call.id, result })
  return call
}

const made = (client: Client) => answer(client, 'terminal/create', { terminalId: 'term-1' })
const RUN = { terminal: { command: 'make', args: ['all'] } }

describe.concurrent('in one session of one server', () => {
  test.concurrent('each prompt asks its own client, whatever ids they use, and no other', async () => {
    const place = await placeWith()
    const script = [{ readFile: { path: join(place.cwd, 'a.txt'), line: 2 } }]
    const { ada, bob, sessionId } = await company(await placeWithin(place, script))
    ada.send({ id: 'one', method: 'session/prompt', params: promptOf(sessionId, 'Go') })
    await ada.until(isCall('fs/read_text_file'))
    bob.send({ id: 1, method: 'session/prompt', params: promptOf(sessionId, 'Go too') })
    const first = await answer(ada, 'fs/read_text_file', { content: 'of Ada. ' })
    const second = await answer(bob, 'fs/read_text_file', { content: 'of Bob. ' })
    expect((await ada.answerTo('one')).result).toEqual({ stopReason: 'end_turn' })
    expect((await bob.until(({ id, result }) => id === 1 && result?.['stopReason'] !== undefined)).result).toBeDefined()
    await ada.until(has('of Bob. '))
    expect(first.params).toEqual({ sessionId, path: join(place.cwd, 'a.txt'), line: 2 })
    expect(second.id).not.toBe(first.id)
    expect([said(ada), said(bob)]).toEqual(['of Ada. of Bob. ', 'of Ada. of Bob. '])
    expect([calls(ada), calls(bob)].map((all) => all.length)).toEqual([1, 1])
  })

  test.concurrent('a command runs at the client whose prompt it is; the others read what it said', async () => {
    const { ada, bob, sessionId } = await company(await placeWith([RUN]))
    const id = ada.ask('session/prompt', promptOf(sessionId, 'Build'))
    await made(ada)
    await answer(ada, 'terminal/wait_for_exit', { exitCode: 2 })
    await answer(ada, 'terminal/output', { output: 'no rule\n', truncated: false })
    await answer(ada, 'terminal/release', {})
    await ada.answerTo(id)
    await bob.until(has('exit code 2'))
    expect(said(bob)).toBe('exit code 2\nno rule\n')
    expect(calls(ada).map(({ method }) => method)).toEqual([
      'terminal/create',
      'terminal/wait_for_exit',
      'terminal/output',
      'terminal/release',
    ])
    expect(calls(bob)).toEqual([])
    const failed = (client: Client) => client.received.find(has('"status":"failed"'))?.params?.['update']
    expect(failed(ada)).toMatchObject({ content: [{ type: 'terminal', terminalId: 'term-1' }] })
    expect(failed(bob)).toMatchObject({ content: [{ type: 'content', content: { text: 'no rule\n' } }] })
  })

  test.concurrent('a client that leaves in the middle takes its terminal along, and the turn continues and says so', async () => {
    const { ada, bob, sessionId } = await company(await placeWith([RUN, RUN, { chunk: 'On we go.' }]))
    ada.ask('session/prompt', promptOf(sessionId, 'Build'))
    await made(ada)
    await ada.until(isCall('terminal/wait_for_exit'))
    await ada.leave()
    await bob.until(has('On we go.'))
    expect(bob.received.some(has('The terminal ended with its client.'))).toBe(true)
    expect(said(bob)).toContain('(terminal/create is not offered by this client)')
    expect(calls(bob)).toEqual([])
  })

  test.concurrent('a cancel takes back what is open and lets go of the terminal', async () => {
    const { ada, sessionId } = await company(await placeWith([RUN]))
    const id = ada.ask('session/prompt', promptOf(sessionId, 'Build'))
    await made(ada)
    const wait = await ada.until(isCall('terminal/wait_for_exit'))
    ada.send({ method: 'session/cancel', params: { sessionId } })
    expect((await ada.answerTo(id)).result).toEqual({ stopReason: 'cancelled' })
    expect(ada.received.filter(({ method }) => method === '$/cancel_request')).toMatchObject([
      { params: { requestId: wait.id } },
    ])
    expect(calls(ada, 'terminal/release')).toMatchObject([{ params: { terminalId: 'term-1' } }])
  })

  test.concurrent('a server that stops in order lets go of terminals before it goes', async () => {
    const place = await placeWith([RUN])
    const { ada, sessionId } = await company(place)
    ada.ask('session/prompt', promptOf(sessionId, 'Build'))
    await made(ada)
    await ada.until(isCall('terminal/wait_for_exit'))
    const boss = await connect(place)
    boss.ask('_parley/stop', { graceMs: 0 })
    await ada.closed
    expect(calls(ada, 'terminal/release')).toMatchObject([{ params: { terminalId: 'term-1' } }])
  })
})

describe.concurrent('through a relay', () => {
  const greet = (relay: RawClient) => relay.request('initialize', { protocolVersion: 1, clientCapabilities: ALL })

  test.concurrent('a killed server leaves nothing open at the client: its calls are taken back, its terminal is let go of', async () => {
    const place = await relayPlace([RUN])
    const relay = startRelay(place)
    await greet(relay)
    const sessionId = await newSession(relay, place.cwd)
    const id = relay.ask('session/prompt', promptOf(sessionId, 'Build'))
    await made(relay)
    const wait = await relay.until(isCall('terminal/wait_for_exit'))
    await killServer(place)
    expect((await relay.answerTo(id)).error?.data).toMatchObject({ code: 'TURN_INTERRUPTED' })
    expect(relay.received.find(({ method }) => method === '$/cancel_request')?.params).toEqual({ requestId: wait.id })
    const [release, ...more] = calls(relay, 'terminal/release')
    expect(release?.params).toMatchObject({ sessionId, terminalId: 'term-1' })
    expect(more).toEqual([])
    // Late answers to the dead harm nobody, and the next turn is served as ever.
    relay.send({ id: wait.id, result: { exitCode: 0 } })
    relay.send({ id: release?.id, result: {} })
    const again = relay.ask('session/prompt', promptOf(sessionId, 'Build'))
    const isNew = (message: Message) => isCall('terminal/create')(message) && message.id !== calls(relay)[0]?.id
    relay.send({ id: (await relay.until(isNew)).id, result: { terminalId: 'term-2' } })
    const isNewWait = (message: Message) => isCall('terminal/wait_for_exit')(message) && message.id !== wait.id
    relay.send({ id: (await relay.until(isNewWait)).id, result: { exitCode: 0 } })
    await answer(relay, 'terminal/output', { output: 'built', truncated: false })
    expect((await relay.answerTo(again)).result).toEqual({ stopReason: 'end_turn' })
    expect(relay.received.some(has('Interrupted; it may have run.'))).toBe(true)
  })
})

/** The same place with another script. */
async function placeWithin(place: Place, script: readonly Fields[]): Promise<Place> {
  const { agent } = await placeWith(script)
  return { ...place, agent }
}
