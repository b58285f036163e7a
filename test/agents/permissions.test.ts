/** Questions of external agents to the user: permissions, forms, pages. The numbers are cases of their law. */
import { expect, test } from 'vitest'
import { until } from '../fixtures/process/running.ts'
import type { Move } from '../fake-agent/case.ts'
import type { FakeAgent } from '../fake-agent/fake-agent.ts'
import type { Entry } from '../../src/session/domain/entries.ts'
import type { Session } from '../../src/session/session.ts'
import type { Reader } from '../sim/reader.ts'
import { Stage, endOf, notices, pacedClock, prompted, sent } from './stage.ts'

const OPTIONS = [
  { optionId: 'a', name: 'Always', kind: 'allow_always' },
  { optionId: 'p', name: 'For this project', kind: 'allow_persistent' },
  { optionId: 'y', name: 'Yes', kind: 'allow_once' },
  { optionId: 'e', name: 'Edit first', kind: 'allow_once' },
  { optionId: 's', name: 'Skip', kind: 'reject_once' },
  { optionId: 'n', name: 'No', kind: 'reject_once' },
  { optionId: 'never', name: 'Never', kind: 'reject_always' },
]

const call = (number: number) => ({ toolCallId: `call-${number}`, title: `Run ${number}`, kind: 'execute' })
const asking = (number: number): Move => ({
  permission: { toolCall: call(number) },
  goesOn: true,
  onAnswer: { '*': [{ chunk: `${number}:{outcome} ` }, { mark: `answered ${number}` }] },
})

type Asked = Entry & { readonly kind: 'permission_requested' }

const askedIn = ({ entries }: Reader): readonly Asked[] =>
  entries.filter((entry): entry is Asked => entry.kind === 'permission_requested')

async function questions(reader: Reader, count = 1): Promise<readonly [Asked, ...Asked[]]> {
  await until(() => askedIn(reader).length >= count)
  return askedIn(reader) as [Asked, ...Asked[]]
}

const answer = (session: Session, { requestId }: { readonly requestId: string }, optionId: string | null) =>
  session.dispatch({ kind: 'answer', requestId, optionId })

/** What the agent was answered, in the order of its log. */
const answersTo = (fake: FakeAgent) =>
  fake.log.flatMap(({ got }) => (got !== undefined && got.method === undefined ? [got['result'] ?? got['error']] : []))

test.concurrent('all options are shown in their order, also one of an unknown kind [16]', async () => {
  await using stage = new Stage()
  const fake = stage.fake({ prompts: { go: [{ permission: { options: OPTIONS } }] } })
  const { session, reader } = await stage.open()
  const turn = prompted(session, reader, 'go')
  const [question] = await questions(reader)
  expect(question.options).toEqual(OPTIONS)
  await answer(session, question, 'y')
  await turn
  expect(answersTo(fake)).toEqual([{ outcome: { outcome: 'selected', optionId: 'y' } }])
})

test.concurrent('an answer that is no option is no approval [16]', async () => {
  await using stage = new Stage()
  const fake = stage.fake({ prompts: { go: [{ permission: { options: OPTIONS } }] } })
  const { session, reader } = await stage.open()
  const turn = prompted(session, reader, 'go')
  const [question] = await questions(reader)
  await answer(session, question, 'allow_always')
  await turn
  expect(answersTo(fake)).toEqual([{ outcome: { outcome: 'cancelled' } }])
})

test.concurrent('two options of one id are an error of the agent, and no user is asked [16]', async () => {
  const [one] = OPTIONS
  const twice = [one, { ...one, name: 'Other' }] as Move[] as never
  await using stage = new Stage()
  const fake = stage.fake({
    prompts: { go: [{ permission: { options: twice }, onAnswer: { error: [{ chunk: 'hm' }] } }] },
  })
  const { session, reader } = await stage.open()
  expect(await prompted(session, reader, 'go')).toMatchObject({ stopReason: 'end_turn' })
  expect(reader.text).toBe('hm')
  expect(answersTo(fake)).toMatchObject([{ code: -32_602 }])
  expect(askedIn(reader)).toEqual([])
})

test.concurrent('of three questions at once each is answered once, for all clients [17]', async () => {
  await using stage = new Stage()
  const fake = stage.fake({
    prompts: { go: [asking(1), asking(2), asking(3), { gate: 'all' }] },
  })
  const { session, reader } = await stage.open()
  const other = await stage.join(session)
  const turn = prompted(session, reader, 'go')
  const [one, two, three] = (await questions(reader, 3)) as unknown as [Asked, Asked, Asked]
  expect(reader.view?.questions).toHaveLength(3)
  await answer(session, two, 'no')
  await expect(answer(session, two, 'yes')).rejects.toMatchObject({ code: 'PERMISSION_UNKNOWN' })
  await answer(session, three, 'yes')
  await answer(session, one, 'yes')
  await until(() => [1, 2, 3].every((number) => fake.log.some(({ mark }) => mark === `answered ${number}`)))
  fake.open('all')
  await turn
  expect(reader.text.trim().split(' ').toSorted()).toEqual(['1:yes', '2:no', '3:yes'])
  expect(answersTo(fake)).toHaveLength(3)
  expect(other.entries.filter(({ kind }) => kind === 'permission_resolved')).toHaveLength(3)
})

test.concurrent('a question waits without anybody, and does not come back after the server was killed [18]', async () => {
  await using stage = new Stage()
  const fake = stage.fake({
    capabilities: { loadSession: true },
    keeps: 'finished',
    prompts: { go: [{ permission: {}, onAnswer: { yes: [{ chunk: 'ran' }] } }] },
  })
  const { session, reader } = await stage.open()
  const promptId = await sent(session, 'go')
  await questions(reader)
  const after = await stage.killed(session.id)
  const end = after.reader.entries.find((entry) => entry.kind === 'turn_ended' && entry.promptId === promptId)
  expect(end).toMatchObject({ stopReason: 'interrupted' })
  expect(after.reader.view?.questions ?? []).toEqual([])
  expect(after.reader.entries.find(({ kind }) => kind === 'permission_resolved')).toMatchObject({
    outcome: { outcome: 'cancelled' },
  })
  await prompted(after.session, after.reader, 'and now?')
  expect(askedIn(after.reader)).toHaveLength(1)
  expect(fake.prompts.filter((text) => text === 'go')).toHaveLength(1)
})

test.concurrent('a cancel answers the open question, also for an agent that waits for that [19]', async () => {
  await using stage = new Stage()
  const fake = stage.fake({
    on: { 'session/cancel': [] },
    prompts: { go: [{ permission: {}, onAnswer: { cancelled: [{ answer: { stopReason: 'cancelled' } }] } }] },
  })
  const { session, reader } = await stage.open()
  const promptId = await sent(session, 'go')
  await questions(reader)
  await session.dispatch({ kind: 'cancel', queued: [] })
  expect(await endOf(reader, promptId)).toMatchObject({ stopReason: 'cancelled' })
  expect(answersTo(fake)).toEqual([{ outcome: { outcome: 'cancelled' } }])
  expect(await prompted(session, reader, 'next')).toMatchObject({ stopReason: 'end_turn' })
})

const done: Move = { update: { sessionUpdate: 'tool_call_update', toolCallId: 'call-1', status: 'completed' } }

test.concurrent('a question outside of a turn makes a turn of the agent, in which it is asked [20]', async () => {
  await using stage = new Stage(undefined, undefined, pacedClock(5))
  const fake = stage.fake({
    prompts: {
      go: [
        { answer: { stopReason: 'end_turn' } },
        { gate: 'later' },
        { permission: {}, onAnswer: { yes: [{ chunk: 'by myself' }, done] } },
      ],
    },
  })
  const { session, reader } = await stage.open()
  await prompted(session, reader, 'go')
  fake.open('later')
  const [question] = await questions(reader)
  expect(reader.entries.findLast(({ kind }) => kind === 'turn_started')).toMatchObject({ by: 'agent' })
  await answer(session, question, 'yes')
  await until(() => reader.entries.filter(({ kind }) => kind === 'turn_ended').length === 2)
  expect(reader.text).toBe('by myself')
})

const FORM = {
  mode: 'form',
  message: 'Which day?',
  requestedSchema: { type: 'object', properties: { day: { type: 'string' } }, required: ['day'] },
}

test.concurrent('a form that no client can show is cancelled, and a notice says so [21]', async () => {
  await using stage = new Stage()
  const fake = stage.fake({
    prompts: { go: [{ request: 'elicitation/create', params: FORM, onAnswer: { cancel: [{ chunk: 'went on' }] } }] },
  })
  const { session, reader } = await stage.open()
  await prompted(session, reader, 'go')
  expect(reader.text).toBe('went on')
  expect(answersTo(fake)).toEqual([{ action: 'cancel' }])
  expect(notices(reader)).toEqual([expect.stringContaining('fill in a form')])
})

test.concurrent('a question of an unknown mode is refused [21]', async () => {
  await using stage = new Stage()
  const fake = stage.fake({
    prompts: { go: [{ request: 'elicitation/create', params: { mode: 'voice', message: 'Say it' } }] },
  })
  const { session, reader } = await stage.open()
  await prompted(session, reader, 'go')
  expect(answersTo(fake)).toMatchObject([{ code: -32_602 }])
})

test.concurrent('requests that Parley never offered are refused at once, and the turn goes on [6]', async () => {
  const methods = ['fs/read_text_file', 'fs/write_text_file', 'terminal/create', '_x/ask']
  await using stage = new Stage()
  const fake = stage.fake({
    prompts: {
      go: [
        { notify: '_x/told', params: { a: 1 } },
        ...methods.map((request): Move => ({
          request,
          params: { path: '/etc/passwd' },
          onAnswer: { error: [{ chunk: '.' }] },
        })),
        { chunk: 'done' },
      ],
    },
  })
  const { session, reader } = await stage.open()
  expect(await prompted(session, reader, 'go')).toMatchObject({ stopReason: 'end_turn' })
  expect(reader.text).toBe('....done')
  expect(answersTo(fake)).toMatchObject(methods.map(() => ({ code: -32_601 })))
})

test.concurrent('that an agent never asks is said once, where its session begins', async () => {
  await using stage = new Stage()
  stage.fake({ capabilities: { sessionCapabilities: { resume: {} } } }, { quirks: { asks: 'never' } })
  const { session, reader } = await stage.open()
  await prompted(session, reader, 'one')
  const after = await stage.killed(session.id)
  await prompted(after.session, after.reader, 'two')
  expect(notices(after.reader)).toEqual([
    'fake never asks before it changes files or runs commands, and Parley is no sandbox.',
  ])
})
