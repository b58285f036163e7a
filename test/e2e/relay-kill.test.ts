/** The server is killed with kill -9 while relays are attached: their clients notice no more than one interrupted prompt. */
import { requirePid } from './server.ts'
import { copyFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { stdioServer } from '../fixtures/mcp/servers.ts'
import { serverOf, until } from '../fixtures/process/running.ts'
import { type Message, type SeenUpdate, textOf, updatesIn } from './message.ts'
import { initialize, newSession, promptOf } from './parley.ts'
import type { RawClient } from './raw-client.ts'
import {
  cleanUp,
  connect,
  connectTwo,
  cursorsOf,
  killServer,
  placeWith,
  serversStarted,
  startRelay,
  transcriptOf,
} from './relays.ts'

cleanUp()

const STREAM = [{ chunk: 'w{n} ', times: 250, everyMs: 3 }]

const said = (messages: readonly Message[]): string => updatesIn(messages).map(textOf).join('')
/** The `times`-th message that holds `word`, looking at each once. */
const untilSaid = (client: RawClient, word: string, times: number): Promise<Message> => {
  let heard = 0
  return client.until((message) => {
    if (message.params !== undefined && said([message]).includes(word)) heard += 1
    return heard === times
  })
}
const answersTo = ({ received }: RawClient, id: number): readonly Message[] =>
  received.filter((message) => message.id === id && message.method === undefined)
const onlyAnswer = async (client: RawClient, id: number): Promise<unknown> => {
  await client.answerTo(id)
  // Whatever else came for it would have come before the answer to something asked later.
  await client.request('session/list', {})
  const answers = answersTo(client, id)
  expect(answers).toHaveLength(1)
  return answers[0]?.result?.['stopReason'] ?? answers[0]?.error?.data?.['code']
}

/** A client has each entry once and in order, and of the transcript none is missing that came while it was there. */
async function expectWhole(
  place: Parameters<typeof transcriptOf>[0],
  sessionId: string,
  clients: readonly RawClient[],
) {
  const whole = await transcriptOf(place, sessionId)
  for (const client of clients) {
    const cursors = cursorsOf(client, sessionId)
    expect(cursors).toEqual([...new Set(cursors)].toSorted((a, b) => a - b))
    const seen = updatesIn(client.received, sessionId)
    const told = (updates: readonly SeenUpdate[]): string =>
      updates
        .filter(({ update }) => update.sessionUpdate === 'agent_message_chunk')
        .map(textOf)
        .join('')
    expect(told(whole).replaceAll(/Interrupted: [^.]*\.[^.]*\./gu, '')).toBe(
      told(seen).replaceAll(/Interrupted: [^.]*\.[^.]*\./gu, ''),
    )
  }
}

test.concurrent.each([1, 2])('in the middle of a stream, %i', async (round) => {
  const place = await placeWith(STREAM)
  const { one, other, sessionId } = await connectTwo(place)
  const first = one.ask('session/prompt', promptOf(sessionId, 'go'))
  await one.until((message) => said([message]).startsWith(`w${round * 41} `))
  await killServer(place)

  expect(await onlyAnswer(one, first)).toBe('TURN_INTERRUPTED')
  const second = one.ask('session/prompt', promptOf(sessionId, 'again'))
  expect(await onlyAnswer(one, second)).toBe('end_turn')
  const third = other.ask('session/prompt', promptOf(sessionId, 'and again'))
  expect(await onlyAnswer(other, third)).toBe('end_turn')
  await untilSaid(one, 'w250 ', 2)

  await expectWhole(place, sessionId, [one, other])
  expect(serversStarted(place)).toHaveLength(2)
})

test.concurrent('again and again, while prompts of both are waiting', async () => {
  const place = await placeWith([{ chunk: 'w{n} ', times: 40, everyMs: 2 }])
  const { one, other, sessionId } = await connectTwo(place)
  const asked: [RawClient, number][] = []
  for (let round = 0; round < 3; round += 1) {
    // A prompt that is on its way to a server that dies would be one that was interrupted.
    await Promise.all([one, other].map((client) => client.request('session/list', {})))
    asked.push([one, one.ask('session/prompt', promptOf(sessionId, `one ${round}`))])
    asked.push([other, other.ask('session/prompt', promptOf(sessionId, `other ${round}`))])
    await untilSaid(one, 'w7 ', round + 1)
    await killServer(place)
  }
  for (const [client, id] of asked) expect(await onlyAnswer(client, id)).toMatch(/TURN_INTERRUPTED|end_turn/)
  for (const client of [one, other]) {
    const last = client.ask('session/prompt', promptOf(sessionId, 'last'))
    expect(await onlyAnswer(client, last)).toBe('end_turn')
  }
  await expectWhole(place, sessionId, [one, other])
  expect(serversStarted(place)).toHaveLength(4)
})

test.concurrent('while nothing runs, nobody notices, and the server is there again', async () => {
  const place = await placeWith([{ chunk: 'hello' }])
  const { one, other, sessionId } = await connectTwo(place)
  await one.request('session/prompt', promptOf(sessionId, 'go'))
  await other.until((message) => said([message]) === 'hello')
  const before = [one.received.length, other.received.length]
  const killed = await killServer(place)
  await until(() => serverOf(place) !== undefined && serverOf(place) !== killed)
  await one.request('session/prompt', promptOf(sessionId, 'again'))
  await untilSaid(other, 'hello', 2)
  expect(said(one.received.slice(before[0]))).toBe('hello')
  expect(said(other.received.slice(before[1]))).toBe('againhello')
  await expectWhole(place, sessionId, [one, other])
})

describe.concurrent('while a question waits', () => {
  const STORY = [
    { permission: { title: 'May I?', toolCallId: 'ask', toolCall: { name: 'echo', arguments: { text: 'it ran' } } } },
    { chunk: 'and on' },
  ]
  const questions = ({ received }: RawClient) =>
    received.filter(({ method }) => method === 'session/request_permission')
  const withdrawn = ({ received }: RawClient) =>
    received.filter(({ method }) => method === '$/cancel_request').map(({ params }) => params?.['requestId'])

  async function asked() {
    const place = await placeWith(STORY)
    const { env: _env, type: _type, ...echo } = stdioServer('echo')
    const { one, other, sessionId } = await connectTwo(place, [{ ...echo, env: [] }])
    const prompt = one.ask('session/prompt', promptOf(sessionId, 'go'))
    await Promise.all([one, other].map((client) => client.until(() => questions(client).length === 1)))
    return { place, one, other, sessionId, prompt }
  }

  test.concurrent('it is withdrawn and asked anew, its prompt stays open, and late answers to the old one count for nothing', async () => {
    const { place, one, other, sessionId, prompt } = await asked()
    await killServer(place)
    await Promise.all([one, other].map((client) => client.until(() => questions(client).length === 2)))
    for (const client of [one, other]) {
      const [old, anew] = questions(client)
      expect(withdrawn(client)).toEqual([old?.id])
      expect(anew?.id).not.toBe(old?.id)
      client.reply(old?.id, { outcome: { outcome: 'selected', optionId: 'reject_once' } })
    }
    expect(answersTo(one, prompt)).toEqual([])
    other.reply(questions(other)[1]?.id, { outcome: { outcome: 'selected', optionId: 'allow_once' } })
    expect(await onlyAnswer(one, prompt)).toBe('end_turn')
    expect(withdrawn(one)).toEqual(questions(one).map(({ id }) => id))
    await expectWhole(place, sessionId, [one, other])
    expect(JSON.stringify(updatesIn(one.received))).toContain('it ran')
  })
})

test.concurrent('while a client does not read and goes on asking: all is answered once it reads', async () => {
  const place = await placeWith([{ chunk: `{n} ${'x'.repeat(2_000)}`, times: 2_000 }])
  const { one, other, sessionId } = await connectTwo(place)
  other.child.stdout.pause()
  await one.request('session/prompt', promptOf(sessionId, 'go'))
  await killServer(place)
  const asked: number[] = []
  for (let times = 0; times < 20; times += 1) {
    asked.push(other.ask('session/list', {}))
    // Each as a message of its own, some of them on a socket that is known to be dead.
    await one.request('session/list', {})
  }
  other.child.stdout.resume()
  for (const id of asked) expect((await other.answerTo(id)).error).toBeUndefined()
  await expectWhole(place, sessionId, [one])
})

test.concurrent('while the relay is still starting', async () => {
  const place = await placeWith([{ chunk: 'hello' }])
  const client = startRelay(place)
  const greeting = initialize(client)
  await until(() => serverOf(place) !== undefined)
  await killServer(place)
  await greeting
  const sessionId = await newSession(client, place.cwd)
  const prompt = client.ask('session/prompt', promptOf(sessionId, 'go'))
  expect(await onlyAnswer(client, prompt)).toBe('end_turn')
})

describe.concurrent('when no server can be started', () => {
  async function broken() {
    const place = await placeWith([{ chunk: 'w{n} ', times: 100_000, everyMs: 1 }])
    const client = await connect(place)
    const sessionId = await newSession(client, place.cwd)
    const prompt = client.ask('session/prompt', promptOf(sessionId, 'go'))
    await client.until((message) => said([message]).startsWith('w3'))
    const stored = readdirSync(place.home).filter((name) => name.includes('journal') || name.endsWith('.db'))
    const journal = stored.find((name) => !name.includes('-')) ?? ''
    process.kill(requirePid(serverOf(place)), 'SIGSTOP')
    return { place, client, sessionId, prompt, journal: join(place.home, journal), stored }
  }

  test.concurrent('everyone who waits is told, and the next message tries again', async () => {
    const { place, client, sessionId, prompt, journal } = await broken()
    const copy = join(place.home, 'kept')
    copyFileSync(journal, copy)
    await killServer(place)
    rmSync(journal)
    writeFileSync(journal, 'this is no journal')
    expect(await onlyAnswerWithoutServer(client, prompt)).toBe('TURN_INTERRUPTED')
    const { error } = await client.request('session/list', {})
    expect(error).toMatchObject({ data: { code: 'SERVER_CANNOT_START' } })
    expect(client.stderr).toContain('is not a Parley journal')
    rmSync(journal)
    copyFileSync(copy, journal)
    const from = client.received.length
    const again = client.ask('session/prompt', promptOf(sessionId, 'again'))
    await client.until((message) => client.received.indexOf(message) >= from && said([message]).startsWith('w3'))
    client.notify('session/cancel', { sessionId })
    expect(await onlyAnswer(client, again)).toBe('cancelled')
  })

  async function onlyAnswerWithoutServer(client: RawClient, id: number): Promise<unknown> {
    const { error } = await client.answerTo(id)
    expect(answersTo(client, id)).toHaveLength(1)
    return error?.data?.['code']
  }
})
