/** What an agent keeps of a session itself: closed with it, deleted with it, and never shared with a fork. Case 51 of the law. */
import { expect, test } from 'vitest'
import { until } from '../fixtures/process/running.ts'
import type { FakeAgent } from '../fake-agent/fake-agent.ts'
import type { Journal } from '../../src/ports/journal.ts'
import { newConversations } from '../../src/session/lifecycle/conversations.ts'
import type { Session } from '../../src/session/session.ts'
import type { Reader } from '../sim/reader.ts'
import { Stage, called, lastPrompt, notices, prompted } from './stage.ts'

const KEEPS = { capabilities: { loadSession: true, sessionCapabilities: { close: {}, delete: {}, list: {} } } }
const deleted = (fake: FakeAgent) => fake.received('session/delete').map(({ sessionId }) => sessionId)

test.concurrent('a session that is closed is closed in its agent, and one that is deleted is deleted there [51]', async () => {
  await using stage = new Stage()
  const fake = stage.fake(KEEPS)
  stage.fake({}, { name: 'other' })
  const { session, reader } = await stage.open()
  await prompted(session, reader, 'one')
  // Another agent in between: its own conversation is outdated then, and it begins a second one.
  for (const agent of ['acp:other', 'acp:fake']) {
    await stage.sessions.open(session.id, { ...stage.here, agent })
    await prompted(session, reader, agent)
  }
  await stage.sessions.close(session.id)
  expect(fake.received('session/close').map(({ sessionId }) => sessionId)).toEqual(['fake-1', 'fake-2'])
  expect(fake.processes).toEqual([])
  expect(deleted(fake)).toEqual([])

  await stage.sessions.delete(session.id)
  await until(() => deleted(fake).length === 2)
  expect(deleted(fake)).toEqual(['fake-1', 'fake-2'])
  await until(() => fake.processes.length === 0)
  expect(fake.sessions).toEqual([])
})

test.concurrent('an agent that cannot delete is not started for that [51]', async () => {
  await using stage = new Stage()
  const fake = stage.fake({ capabilities: { loadSession: true } })
  const other = stage.fake(KEEPS, { name: 'other' })
  const [one, two] = [await stage.open(), await stage.open('acp:other')]
  await prompted(one.session, one.reader, 'hi')
  await prompted(two.session, two.reader, 'hi')
  for (const { session } of [one, two]) await stage.sessions.delete(session.id)
  await until(() => deleted(other).length === 1)
  expect(fake.log.filter(({ start }) => start !== undefined)).toHaveLength(1)
})

test.concurrent.each([
  ['at its end', 'two', 'echo: two'],
  ['in its middle', 'one', 'echo: one'],
])(
  'a fork %s has a conversation of its own, told what it has, and is deleted alone [51]',
  async (_where, last, text) => {
    await using stage = new Stage()
    const fake = stage.fake(KEEPS)
    const { session, reader } = await stage.open()
    for (const words of ['one', 'two']) await prompted(session, reader, words)
    const isLast = (content: unknown): boolean => JSON.stringify(content).includes(`echo: ${last}`)
    const at = reader.entries.findIndex((one) => one.kind === 'message_chunk' && isLast(one.content))
    const end = reader.entries.slice(at).find(({ kind }) => kind === 'turn_ended')
    const fork = await stage.reopened(await stage.sessions.fork(session.id, end?.seq))
    await prompted(fork.session, fork.reader, 'on')
    const told = JSON.stringify(fake.received('session/prompt').at(-1))
    expect(told).toContain(text)
    expect(told.includes('echo: two')).toBe(last === 'two')
    await prompted(session, reader, 'three')
    expect(fake.received('session/new')).toHaveLength(2)

    await stage.sessions.delete(fork.session.id)
    await until(() => deleted(fake).length > 0)
    expect(deleted(fake)).toEqual(['fake-2'])
    await stage.sessions.delete(session.id)
    await until(() => deleted(fake).length > 1)
    expect(deleted(fake)).toEqual(['fake-2', 'fake-1'])
  },
)

const FORKS = { capabilities: { loadSession: true, sessionCapabilities: { delete: {}, list: {}, fork: {} } } }

test.concurrent('a fork at its end is a copy that its agent makes, without a transcript [51]', async () => {
  await using stage = new Stage()
  const fake = stage.fake({ ...FORKS, prompts: { '*': [{ chunk: 'knows {known}' }] } })
  const { session, reader } = await stage.open()
  for (const words of ['one', 'two']) await prompted(session, reader, words)
  await stage.sessions.close(session.id)
  const fork = await stage.reopened(await stage.sessions.fork(session.id))
  await prompted(fork.session, fork.reader, 'on')
  expect(lastPrompt(fake)).toEqual(['on'])
  expect(fork.reader.text).toBe('knows 1knows 2knows 3')
  expect(fake.received('session/fork')).toEqual([{ sessionId: 'fake-1', cwd: stage.directory, mcpServers: [] }])
  expect(called(fake, 'session/new')).toEqual([1])
  expect(notices(fork.reader)).toEqual([])
  // It is the fork's own from then on: reopened, compared, and deleted alone.
  const after = await stage.killed(fork.session.id)
  await prompted(after.session, after.reader, 'and on')
  expect([called(fake, 'session/load'), lastPrompt(fake)]).toEqual([[1], ['and on']])
  await stage.sessions.delete(after.session.id)
  await until(() => deleted(fake).length > 0)
  expect(deleted(fake)).toEqual(['fake-2'])
})

test.concurrent.each<readonly [string, (source: Session, reader: Reader) => Promise<unknown>, object]>([
  ['whose source has gone on', (session, reader) => prompted(session, reader, 'two'), FORKS],
  [
    'that its agent refuses',
    async () => undefined,
    { ...FORKS, on: { 'session/fork': [{ fail: { code: -32603, message: 'no' } }] } },
  ],
])('a fork %s is a new conversation that gets the transcript of the fork [51]', async (_which, goOn, plan) => {
  await using stage = new Stage()
  const fake = stage.fake(plan)
  const { session, reader } = await stage.open()
  await prompted(session, reader, 'one')
  const id = await stage.sessions.fork(session.id)
  await goOn(session, reader)
  const fork = await stage.reopened(id)
  await prompted(fork.session, fork.reader, 'on')
  const [told, typed] = lastPrompt(fake)
  expect([told?.includes('echo: one'), told?.includes('echo: two'), typed]).toEqual([true, false, 'on'])
  expect(notices(fork.reader)).toHaveLength(1)
})

/** Tells which sessions are looked through. */
function watched(disk: Journal): { readonly journal: Journal; readonly looked: string[] } {
  const looked: string[] = []
  const find: Journal['find'] = (id, wanted, limits) => {
    looked.push(id)
    return disk.find(id, wanted, limits)
  }
  return { journal: Object.assign(Object.create(disk) as Journal, { find }), looked }
}

test.concurrent('which conversations are sessions here is looked up: only what is new in the journal is read', async () => {
  await using stage = new Stage()
  stage.fake()
  stage.fake({}, { name: 'other' })
  const ids: string[] = []
  for (const agent of ['acp:fake', 'acp:fake', 'acp:other']) {
    const { session, reader } = await stage.open(agent)
    await prompted(session, reader, 'hi')
    await stage.sessions.close(session.id)
    ids.push(session.id)
  }
  const first = await newConversations(stage.disk, 'acp:fake', new Map())
  const own = [
    ['fake-1', ids[0]],
    ['fake-2', ids[1]],
  ] as const
  expect(first.found).toEqual(new Map(own))
  const { session, reader } = await stage.open()
  await prompted(session, reader, 'hi')
  await stage.sessions.delete(ids[0] ?? '')
  const { journal, looked } = watched(stage.disk)
  const second = await newConversations(journal, 'acp:fake', first.sessions)
  expect(new Set(looked)).toEqual(new Set([session.id]))
  expect([...second.found.values()]).toEqual([session.id])
  expect([...second.sessions.keys()].toSorted()).toEqual([...ids.slice(1), session.id].toSorted())
})
