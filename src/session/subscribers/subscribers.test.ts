/** The clients of one session: what each of them is pushed, which of them a turn uses, and whose answer counts. */
import { describe, expect, test } from 'vitest'
import type { ClientPeer } from '../../ports/client-peer.ts'
import { quiet } from '../../../test/sim/clock.ts'
import { diskAfter } from '../../../test/sim/given.ts'
import { House, here } from '../../../test/sim/house.ts'
import { type Script, deaf, untilCancelled } from '../../../test/sim/puppet.ts'
import { Reader } from '../../../test/sim/reader.ts'
import * as say from '../../../test/sim/words.ts'
import type { Body } from '../domain/entries.ts'
import type { SessionPush, SubscribeOptions } from '../handle.ts'
import type { Session } from '../session.ts'

interface Opened {
  readonly house: House
  readonly session: Session
}

async function opened(script?: Script): Promise<Opened> {
  const house = new House()
  if (script !== undefined) house.agent.script = script
  return { house, session: await house.sessions.create(here) }
}

async function left(...bodies: readonly Body[]): Promise<Opened> {
  const house = new House(await diskAfter(...bodies))
  return { house, session: await house.sessions.open('s-1', here) }
}

async function join({ house, session }: Opened, name: string, options: Partial<SubscribeOptions> = {}) {
  const reader = new Reader(house.disk, session.id)
  const attached = { config: here, client: { name, author: name }, ...options }
  const client = await session.subscribe(0, reader, attached)
  await client.goLive()
  const pushed = (kind: SessionPush['kind']) => reader.others.filter((push) => push.kind === kind)
  return { client, reader, pushed }
}

const form: ClientPeer['form'] = async () => ({ action: 'accept', content: {} })
const url: ClientPeer['url'] = async () => ({ action: 'accept', complete: () => {} })
function peerWith(services: Partial<ClientPeer> = {}) {
  const connection = new AbortController()
  return { peer: { gone: connection.signal, ...services }, leave: () => connection.abort() }
}

const server = { type: 'stdio', name: 'docs', command: 'docs', args: [], env: {} } as const
const content = [say.text('x')]
const accepted = (promptId: string) => ({ promptId, content })
const asks: Script = async (turn) => {
  await turn.ask({ toolCallId: 'c1', patch: { title: 'Look' }, options: say.options, state: null })
  return 'end_turn'
}
const waiting = [say.created, say.accepted('p1', 'x'), say.turnStarted(1, 'p1'), say.toolCall('c1', 'Look')]
const asked = [...waiting, say.asked('r1', 'c1'), say.suspended(1)]
const paused = [...waiting, say.patched('c1', 'in_progress'), say.paused('c1')]

describe('each client of a session', () => {
  test('knows who is there, in the order in which they came, and which of them it is', async () => {
    const { house, session } = await opened()
    const [ada, bob] = [await join({ house, session }, 'ada'), await join({ house, session }, 'bob')]
    const there = (names: readonly string[], you: string) =>
      names.map((name) => ({ name, author: name, isYou: name === you }))
    expect(ada.pushed('presence').at(-1)).toEqual({ kind: 'presence', clients: there(['ada', 'bob'], 'ada') })
    expect(bob.pushed('presence')).toEqual([{ kind: 'presence', clients: there(['ada', 'bob'], 'bob') }])
    ada.client.end()
    expect(bob.pushed('presence').at(-1)).toEqual({ kind: 'presence', clients: there(['bob'], 'bob') })
    expect(ada.pushed('presence')).toHaveLength(2)
  })

  test('knows the MCP servers of its turns, and when they change', async () => {
    const { house, session } = await opened()
    const ada = await join({ house, session }, 'ada', { config: { ...here, mcpServers: [server] } })
    const docs = { name: 'docs', title: 'docs', tools: 0 }
    expect(ada.pushed('mcp').at(-1)).toEqual({ kind: 'mcp', servers: [{ ...docs, state: 'ready' }] })
    house.tools.become('docs', 'failed')
    expect(ada.pushed('mcp').at(-1)).toEqual({ kind: 'mcp', servers: [{ ...docs, state: 'failed' }] })
    ada.client.setConfig({ ...here, mcpServers: [server, { ...server, name: 'more' }] })
    expect(ada.pushed('mcp').at(-1)).toMatchObject({ servers: [{ name: 'docs' }, { name: 'more' }] })
  })

  test('knows what keeps its agent from speaking, also when it comes later', async () => {
    const { house, session } = await opened()
    const activity = { state: 'quiet', agent: 'Puppet', since: 1 } as const
    const ada = await join({ house, session }, 'ada')
    for (const agent of house.agent.sessions) agent.showActivity(activity)
    const bob = await join({ house, session }, 'bob')
    expect([ada.reader.activities, bob.reader.activities]).toEqual([[undefined, activity], [activity]])
    expect(bob.pushed('agent')).toEqual([{ kind: 'agent', activity }])
  })

  test('is shown a notice if it is up to date', async () => {
    const notice = { severity: 'info', title: 'Full' }
    const { house, session } = await opened(async (turn) => {
      await turn.notify(notice)
      return 'end_turn'
    })
    const [ada, bob] = [await join({ house, session }, 'ada'), await join({ house, session }, 'bob')]
    const late = new Reader(house.disk, session.id)
    await session.subscribe(0, late, { config: here, client: { name: 'late' } })
    bob.reader.stall()
    await session.prompt('p1', content)
    await quiet()
    expect(ada.pushed('notice')).toEqual([{ kind: 'notice', notice }])
    for (const others of [bob.reader.others, late.others])
      expect(others.map(({ kind }) => kind)).not.toContain('notice')
  })

  test.each(['closed', 'deleted'] as const)('learns that the session was %s', async (how) => {
    const { house, session } = await opened()
    const ada = await join({ house, session }, 'ada')
    if (how === 'closed') await session.close()
    else session.deleted()
    expect(ada.pushed('ended')).toEqual([{ kind: 'ended', how }])
  })

  test('learns that its turn could not be stored', async () => {
    const { house, session } = await opened(deaf)
    const ada = await join({ house, session }, 'ada')
    await session.prompt('p1', content)
    house.disk.trouble = 'damaged'
    await session.dispatch({ kind: 'cancel', queued: [] }).catch(() => {})
    await quiet()
    expect(ada.pushed('failed')).toMatchObject([{ kind: 'failed', error: { code: 'JOURNAL_CORRUPT' }, view: {} }])
  })

  test('reads what was stored although its journal said that it was not, once it is live', async () => {
    const { house, session } = await opened()
    const ada = await join({ house, session }, 'ada')
    const late = new Reader(house.disk, session.id)
    await session.subscribe(0, late, { config: here, client: { name: 'late' } })
    house.disk.next = 'lost answer'
    await session.dispatch({ kind: 'rename', title: 'Mine' }).catch(() => {})
    await quiet()
    expect(ada.reader.kinds).toEqual(['session_created', 'title'])
    expect(late.kinds).toEqual([])
  })

  test('keeps the session in memory until a minute after the last one has left', async () => {
    const { house, session } = await opened()
    const [ada, bob] = [await join({ house, session }, 'ada'), await join({ house, session }, 'bob')]
    ada.client.end()
    await house.clock.advance(60_000)
    expect(house.sessions.counts().sessions).toBe(1)
    bob.client.end()
    await house.clock.advance(59_999)
    expect(house.sessions.counts().sessions).toBe(1)
    await house.clock.advance(1)
    expect(house.sessions.counts().sessions).toBe(0)
  })
})

describe('a prompt of a client', () => {
  test('is stored with its sender and what the client said of it; sent again it says whether it has ended', async () => {
    const { house, session } = await opened()
    const meta = { editor: 'x' }
    const ada = await join({ house, session }, 'ada')
    expect(await ada.client.prompt({ ...accepted('p1'), meta })).toBe('open')
    const unnamed = await join({ house, session }, 'bob', { client: { name: 'bob' } })
    await unnamed.client.prompt(accepted('p2'))
    await quiet()
    expect(await ada.client.prompt(accepted('p1'))).toBe('ended')
    const prompts = (await house.disk.entries(session.id)).filter(({ kind }) => kind === 'prompt_accepted')
    expect(prompts).toMatchObject([{ by: 'ada', meta }, { promptId: 'p2' }])
    for (const key of ['by', 'meta']) expect(prompts[1]).not.toHaveProperty(key)
    house.agent.script = deaf
    for (const promptId of ['p3', 'p3']) expect(await ada.client.prompt(accepted(promptId))).toBe('open')
  })

  test('has the services of the client that sent it, then of one that waits for it too, and of none once it has ended', async () => {
    const { house, session } = await opened(untilCancelled)
    const [of, to] = [peerWith(), peerWith()]
    const [ada, bob] = [
      await join({ house, session }, 'ada', { peer: of.peer }),
      await join({ house, session }, 'bob', { peer: to.peer }),
    ]
    await ada.client.prompt(accepted('p1'))
    for (const client of [bob.client, bob.client]) client.adoptPrompts(['p1', 'p9'])
    expect(session.clients.of('p1')).toBe(of.peer)
    expect(session.clients.of('p9')).toBeUndefined()
    of.leave()
    expect(session.clients.of('p1')).toBe(to.peer)
    to.leave()
    expect(session.clients.of('p1')).toBeUndefined()
    const carl = await join({ house, session }, 'carl')
    carl.client.adoptPrompts(['p1'])
    expect(session.clients.of('p1')).toBeDefined()
    await session.close()
    expect(session.clients.of('p1')).toBeUndefined()
  })

  test('keeps its client while that opens the session again', async () => {
    const { house, session } = await opened(deaf)
    const first = await join({ house, session }, 'ada')
    const other = await join({ house, session }, 'bob')
    await first.client.prompt(accepted('p1'))
    const again = await join({ house, session }, 'ada', { config: { ...here, replaces: first.client } })
    first.client.end()
    expect(session.clients.of('p1')).toMatchObject({ gone: { aborted: false } })
    again.client.end()
    expect(session.clients.of('p1')).toBeUndefined()
    other.client.end()
  })

  test('that is refused is not remembered', async () => {
    const { house, session } = await opened()
    const ada = await join({ house, session }, 'ada')
    house.disk.next = 'full'
    await expect(ada.client.prompt(accepted('p1'))).rejects.toMatchObject({ code: 'JOURNAL_FULL' })
    expect(session.clients.of('p1')).toBeUndefined()
  })

  test('has its input asked of its own client first, and else of any that can, as soon as one comes', async () => {
    const { house, session } = await opened(deaf)
    const [of, other, third] = [peerWith({ form }), peerWith({ form }), peerWith({ url })]
    let joined = 0
    const stop = session.clients.whenJoined(() => (joined += 1))
    await join({ house, session }, 'bob', { peer: other.peer })
    const ada = await join({ house, session }, 'ada', { peer: of.peer })
    await ada.client.prompt(accepted('p1'))
    const askable = (mode: 'form' | 'url', promptId = 'p1') => session.clients.askable(promptId, mode)
    expect([askable('form'), askable('form', 'p9'), askable('url')]).toEqual([of.peer, other.peer, undefined])
    expect(joined).toBe(3)
    stop()
    await join({ house, session }, 'carl', { peer: third.peer })
    of.leave()
    expect([askable('form'), askable('url'), joined]).toEqual([other.peer, third.peer, 3])
    expect(askable('form')).toBe(other.peer)
  })
})

describe('a turn that was suspended', () => {
  const phaseWith = async (past: readonly Body[], services: Partial<ClientPeer>) => {
    const { house, session } = await left(...past)
    house.agent.script = deaf
    await join({ house, session }, 'ada', { peer: peerWith(services).peer })
    await quiet()
    return session.state.phase
  }
  const noQuestions = { ...say.paused('c2'), input: { questions: {}, state: { requestState: 'x' } } } as Body
  test.each<[when: string, past: readonly Body[], Partial<ClientPeer>, phase: string]>([
    ['goes on when a client comes that can give its input', [...paused, say.suspended(1)], { form }, 'working'],
    ['waits when one comes that cannot', [...paused, say.suspended(1)], { url }, 'suspended'],
    [
      'goes on when one of its calls waits for nothing',
      [...paused, say.toolCall('c2', 'Look', 'in_progress'), noQuestions, say.suspended(1)],
      {},
      'working',
    ],
    ['waits for a permission first', [...paused, say.asked('r1', 'c1'), say.suspended(1)], { form }, 'suspended'],
  ])('%s', async (_when, ...[past, services, phase]) => expect(await phaseWith(past, services)).toBe(phase))
})

describe('a permission request', () => {
  async function open() {
    const { house, session } = await opened(asks)
    const [ada, bob] = [await join({ house, session }, 'ada'), await join({ house, session }, 'bob')]
    await session.prompt('p1', content)
    await quiet()
    const requestId = ada.reader.view?.questions[0]?.requestId ?? ''
    const ends = () => bob.reader.entries.filter(({ kind }) => kind === 'permission_resolved' || kind === 'notice')
    return { house, ada: ada.client, bob: bob.client, requestId, ends }
  }

  test('is answered by a client under its name', async () => {
    const { ada, requestId, ends } = await open()
    await ada.answer(requestId, { optionId: 'allow_once' })
    expect(ends()).toMatchObject([{ outcome: say.yes, by: 'ada' }])
    await expect(ada.answer(requestId, { optionId: 'allow_once' })).rejects.toMatchObject({
      code: 'PERMISSION_UNKNOWN',
    })
  })

  test('stays open while a client is left that may answer, and is a no with a reason once none is', async () => {
    const { ada, bob, requestId, ends } = await open()
    await ada.answer(requestId, { why: 'One.' })
    expect(ends()).toEqual([])
    await bob.answer(requestId, { why: 'Two.' })
    expect(ends()).toMatchObject([{ kind: 'notice', text: 'Two.' }, { outcome: say.nobody }])
    expect(ends()[1]).not.toHaveProperty('by')
  })

  test('is not answered by a client that has left, and without a reason nothing is said of a no', async () => {
    const { ada, bob, requestId, ends } = await open()
    ada.end()
    await ada.answer(requestId, { optionId: 'allow_once' })
    expect(ends()).toEqual([])
    await bob.answer(requestId, {})
    expect(ends()).toMatchObject([{ outcome: say.nobody }])
  })

  test('of a turn that runs is refused an answer that finds the disk full', async () => {
    const { house, ada, requestId } = await open()
    house.disk.trouble = 'full'
    await expect(ada.answer(requestId, { optionId: 'allow_once' })).rejects.toMatchObject({ code: 'JOURNAL_FULL' })
  })

  test('of a suspended turn takes an answer as soon as the disk has room for it', async () => {
    const { house, session } = await left(...asked)
    const { client, reader } = await join({ house, session }, 'ada')
    await expect(client.answer('r0', { optionId: 'allow_once' })).rejects.toMatchObject({ code: 'PERMISSION_UNKNOWN' })
    house.disk.trouble = 'full'
    const answered = client.answer('r1', { optionId: 'allow_once' })
    await house.clock.advance(2_500)
    expect(house.reported).toContainEqual(expect.objectContaining({ code: 'JOURNAL_FULL' }))
    house.disk.trouble = 'none'
    await house.clock.advance(1_000)
    await answered
    expect(reader.entries.find(({ kind }) => kind === 'permission_resolved')).toMatchObject({ by: 'ada' })
  })
})
