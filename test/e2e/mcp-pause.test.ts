/** A question that a server of the newest protocol asks in the middle of a call outlives the process that asked it. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { scriptedStdio } from '../fixtures/mcp/torture.ts'
import { messageLog } from '../fixtures/mcp/servers.ts'
import { parley } from './cli.ts'
import type { Fields, Message } from './message.ts'
import { promptOf } from './parley.ts'
import { RawSocket } from './raw-socket.ts'
import {
  type Place,
  cleanUpServers,
  deaf,
  logOf,
  openSession,
  pidIn,
  placeWith,
  startInBackground,
  requirePid,
} from './server.ts'

cleanUpServers()

const capabilities = { elicitation: { form: {}, url: {} } }
const isAsked = ({ method }: Message) => method === 'elicitation/create'
const john = { action: 'accept', content: { name: 'John 软' } }

interface Company {
  readonly place: Place
  readonly sessionId: string
  readonly ada: RawSocket
  readonly servers: readonly Fields[]
  /** The parameters of the calls that the MCP server was sent, whichever process sent them. */
  calls(): readonly Fields[]
}

/** A session whose agent calls a tool of a server with this script; the call has asked its person. */
async function company(script: string): Promise<Company & { readonly question: Message }> {
  const place = await placeWith([
    { toolCall: { name: 's__do', arguments: { a: 1 }, toolCallId: 'call' } },
    { chunk: 'After.' },
  ])
  await startInBackground(place)
  const log = messageLog()
  const stdio = scriptedStdio(script, log.path)
  const servers = [{ ...stdio, type: undefined, env: [] }]
  const ada = await RawSocket.open(place.socket, { agent: place.agent, capabilities })
  const sessionId = await openSession(ada, place, servers)
  ada.ask('session/prompt', promptOf(sessionId, 'go'))
  const question = await ada.until(isAsked)
  const calls = () => log.read().flatMap(({ method, params }) => (method === 'tools/call' ? [params ?? {}] : []))
  return { place, sessionId, ada, servers, calls, question }
}

type End = (place: Place) => Promise<unknown>

const kill: End = async ({ home }) => process.kill(requirePid(pidIn(home)), 'SIGKILL')
const ends: readonly (readonly [how: string, end: End])[] = [
  ['kill -9', kill],
  ['parley stop', ({ home }) => parley(['stop'], { home })],
]

async function again({ place, sessionId, servers }: Company, offered: Fields = capabilities): Promise<RawSocket> {
  const client = await RawSocket.open(place.socket, { agent: place.agent, capabilities: offered })
  await client.request('session/load', { sessionId, cwd: place.cwd, mcpServers: servers })
  return client
}

async function restarted({ place }: Company, end: End = kill): Promise<void> {
  await end(place)
  await deaf(place.socket)
  await startInBackground(place)
}

const updatesOf = ({ received }: RawSocket) =>
  received.flatMap(({ method, params }) => (method === 'session/update' ? [params?.['update'] as Fields] : []))

/** The conversation as whoever comes last reads it. */
async function transcript(one: Company): Promise<string> {
  const client = await RawSocket.open(one.place.socket, { agent: one.place.agent })
  await client.request('session/load', { sessionId: one.sessionId, cwd: one.place.cwd, mcpServers: [] })
  return JSON.stringify(updatesOf(client))
}

async function ended(one: Company, client: RawSocket): Promise<string> {
  await client.until((message) => JSON.stringify(message).includes('After.'))
  return transcript(one)
}

describe('a question of a tool call', () => {
  test.each(ends)(
    'is asked again after %s; the answer is sent with the state that the server gave, and the turn continues',
    async (_how, end) => {
      const one = await company('asks the person in rounds')
      await restarted(one, end)
      const ada = await again(one)
      const question = await ada.until(isAsked)
      expect(question.params).toEqual(one.question.params)
      expect(question.params).toMatchObject({ mode: 'form', message: 's: name?', toolCallId: 'call' })
      ada.send({ id: question.id, result: john })
      const story = await ended(one, ada)
      expect(one.calls()).toEqual([
        expect.objectContaining({ name: 'do', arguments: { a: 1 } }),
        expect.objectContaining({
          name: 'do',
          arguments: { a: 1 },
          requestState: 'opaque 软',
          inputResponses: { who: john },
        }),
      ])
      expect(one.calls()[0]).not.toHaveProperty('requestState')
      expect(story).toContain('completed')
      expect(story).not.toContain('may have run')
      const exported = await parley(['export', one.sessionId, '--format', 'jsonl'], { home: one.place.home })
      const kinds = exported.stdout.split('\n').filter((line) => line.includes('"kind":"turn_'))
      expect(kinds.map((line) => (JSON.parse(line) as { kind: string }).kind)).toEqual([
        'turn_started',
        'turn_suspended',
        'turn_resumed',
        'turn_ended',
      ])
    },
  )

  test('may be two, in two rounds, and a page; each round outlives a kill [R5]', async () => {
    const one = await company('asks for more in two rounds')
    await restarted(one)
    const ada = await again(one)
    const first = await ada.until(isAsked)
    ada.send({ id: first.id, result: john })
    const second = await ada.until((message) => isAsked(message) && message.id !== first.id)
    ada.send({ id: second.id, result: { action: 'decline' } })
    const page = await ada.until(({ method, params }) => method === 'elicitation/create' && params?.['mode'] === 'url')
    expect(page.params).toMatchObject({ url: 'https://shop.example/pay', message: 's: pay' })
    await restarted(one)
    // Who offers nothing of the kind is not asked, and takes nothing from whoever is.
    const blind = await again(one, {})
    await restarted(one)
    const bob = await again(one)
    const asked = await bob.until(isAsked)
    expect(asked.params).toMatchObject({ mode: 'url', url: 'https://shop.example/pay' })
    bob.send({ id: asked.id, result: { action: 'accept' } })
    await ended(one, bob)
    expect(blind.received.filter(isAsked)).toEqual([])
    const [begun, more, last, ...others] = one.calls()
    expect(others).toEqual([])
    expect(begun).not.toHaveProperty('requestState')
    expect(more).toMatchObject({
      requestState: 'opaque 1',
      inputResponses: { who: john, again: { action: 'decline' }, where: { roots: [{}] } },
    })
    expect(last).toMatchObject({ requestState: 'opaque 2', inputResponses: { page: { action: 'accept' } } })
  })

  test('passes to another client when the one that was asked leaves', async () => {
    const one = await company('asks the person in rounds')
    const bob = await again(one)
    await one.ada.leave()
    bob.send({ id: (await bob.until(isAsked)).id, result: john })
    await ended(one, bob)
    expect(one.calls()).toHaveLength(2)
  })

  test('whose server is gone ends the call with a sentence, and nobody is asked', async () => {
    const one = await company('asks the person in rounds')
    await restarted(one)
    const ada = await again({ ...one, servers: [] })
    const story = await ended(one, ada)
    expect(story).toContain('There is no tool s__do now.')
    expect(ada.received.filter(isAsked)).toEqual([])
    expect(one.calls()).toHaveLength(1)
  })

  test('of the older protocol ends its call: it may have run', async () => {
    const one = await company('asks the person')
    await restarted(one)
    const ada = await again(one)
    expect(await transcript(one)).toContain('Interrupted; it may have run.')
    expect(ada.received.filter(isAsked)).toEqual([])
    expect(one.calls()).toHaveLength(1)
  })

  test('keeps what the server wants back in the journal, and shows it nowhere', async () => {
    const one = await company('asks the person in rounds')
    const journalOf = () =>
      ['journal.db', 'journal.db-wal'].map((file) => readFileSync(`${one.place.home}/${file}`)).join('')
    await restarted(one)
    const { home } = one.place
    const ada = await again(one)
    const question = await ada.until(isAsked)
    const shown = async () => [
      await transcript(one),
      (await parley(['export', one.sessionId, '--format', 'jsonl'], { home })).stdout,
      (await parley(['export', one.sessionId], { home })).stdout,
      (await parley(['show', one.sessionId], { home })).stdout,
      logOf(one.place),
    ]
    expect(journalOf()).toContain('opaque 软')
    for (const text of await shown()) expect(text).not.toContain('opaque')
    ada.send({ id: question.id, result: { action: 'accept', content: { name: 'Ada' } } })
    await ended(one, ada)
    expect(one.calls()[1]).toMatchObject({ requestState: 'opaque 软' })
  })
})
