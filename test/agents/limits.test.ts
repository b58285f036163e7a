/** What a user allows an agent: to be there before the first prompt, how much memory it may take, how long it may be silent. */
import { expect, test } from 'vitest'
import { until } from '../fixtures/process/running.ts'
import { Stage, endOf, notices, prompted, sent } from './stage.ts'

const LOADS = { capabilities: { loadSession: true } }
const starts = (fake: { readonly log: readonly { readonly start?: unknown }[] }): number =>
  fake.log.filter(({ start }) => start !== undefined).length

test.concurrent('a warm agent is there when its stored session is opened, and knows turns that were made outside', async () => {
  await using stage = new Stage()
  const fake = stage.fake(LOADS, { warm: true })
  const first = await stage.open()
  await prompted(first.session, first.reader, 'one')
  fake.turnOutside('fake-1', 'from the terminal', 'Answered there.')
  const { session, reader } = await stage.killed(first.session.id)
  await until(() => fake.received('session/load').length === 1)
  expect(fake.prompts).toEqual(['one'])
  await prompted(session, reader, 'two')
  await prompted(session, reader, 'three')
  expect(starts(fake)).toBe(2)
  expect(notices(reader)).toEqual([expect.stringContaining('1 turn was added outside Parley')])
  expect(reader.text.split('Answered there.')).toHaveLength(2)
})

test.concurrent('a warm agent takes the place of no other, and what keeps it from starting is said with the first prompt', async () => {
  await using stage = new Stage()
  const fake = stage.fake({ start: [{ die: 3 }] }, { warm: true })
  const other = stage.fake(LOADS, { name: 'other' })
  const { session } = await stage.open('acp:other')
  await stage.sessions.open(session.id, { ...stage.here, agent: 'acp:fake' })
  await stage.sessions.close(session.id)
  const reopened = await stage.reopened(session.id)
  await until(() => starts(fake) > 0)
  expect(await prompted(reopened.session, reopened.reader, 'hi')).toMatchObject({
    error: { code: 'AGENT_START_FAILED' },
  })
  const others = []
  for (let at = 0; at < 8; at += 1) others.push(await stage.open('acp:other'))
  for (const one of others) await prompted(one.session, one.reader, 'hello')
  const before = [starts(fake), starts(other)]
  await stage.sessions.close(session.id)
  await stage.reopened(session.id)
  for (const one of others) await prompted(one.session, one.reader, 'again')
  expect([starts(fake), starts(other)]).toEqual(before)
})

test.concurrent('an agent that takes more memory than it may is ended between two turns, which is said once', async () => {
  await using stage = new Stage()
  const fake = stage.fake(
    { ...LOADS, isProcess: true, prompts: { two: [{ gate: 'go' }, { chunk: 'Two.' }] } },
    { maxMemoryMb: 1 },
  )
  const { session, reader } = await stage.open()
  await prompted(session, reader, 'one')
  await until(() => fake.processes.length === 0)
  const second = await sent(session, 'two')
  await until(() => fake.prompts.length === 2)
  expect(await stage.sessions.agentProcesses()).toMatchObject([{ maxBytes: 1_000_000 }])
  fake.open('go')
  expect(await endOf(reader, second)).toMatchObject({ stopReason: 'end_turn' })
  await until(() => fake.processes.length === 0)
  expect(reader.text).toBe('echo: oneTwo.')
  expect(notices(reader)).toEqual([expect.stringContaining('max_memory_mb of 1, and was ended')])
})

test.concurrent('a prompt to an agent that has been silent for too long is given up, and the next one has another process', async ({
  expect,
}) => {
  const plan = {
    ...LOADS,
    prompts: { hi: [{ chunk: 'working' }, { stderr: 'waiting for the model\n' }, { silent: true as const }] },
  }
  await using stage = new Stage(undefined, 50)
  const fake = stage.fake(plan, { stallMinutes: 0.04 })
  const { session, reader } = await stage.open()
  const promptId = await sent(session, 'hi')
  // How long its process takes to start is another matter.
  await until(() => reader.text.includes('working'))
  const quiet = { stallMinutes: 0.04, quietSeconds: expect.any(Number) as number }
  await expect.poll(() => stage.sessions.agentProcesses()).toMatchObject([quiet])
  const { error } = await endOf(reader, promptId)
  expect(error?.code).toBe('AGENT_STALLED')
  expect(error?.message).toContain('waiting for the model')
  expect(await prompted(session, reader, 'next')).toMatchObject({ stopReason: 'end_turn' })
  expect(fake.prompts).toEqual(['hi', 'next'])
})

test.concurrent('an agent that waits for its user is not silent, however long that takes', async () => {
  const limit = { stallMinutes: 0.5 / 60 }
  await using stage = new Stage(undefined, 50)
  stage.fake({ prompts: { hi: [{ permission: {}, onAnswer: { yes: [{ chunk: 'Ran.' }] } }] } }, limit)
  // Twice as long, so that the one that asks would have been given up by then.
  stage.fake({ prompts: { hi: [{ silent: true }] } }, { stallMinutes: 1 / 60, name: 'other' })
  const [asking, silent] = [await stage.open(), await stage.open('acp:other')]
  const promptId = await sent(asking.session, 'hi')
  await until(() => (asking.reader.view?.questions.length ?? 0) > 0)
  expect(await prompted(silent.session, silent.reader, 'hi')).toMatchObject({ error: { code: 'AGENT_STALLED' } })
  const requestId = asking.reader.view?.questions[0]?.requestId ?? ''
  await asking.session.dispatch({ kind: 'answer', requestId, optionId: 'yes' })
  expect(await endOf(asking.reader, promptId)).toMatchObject({ stopReason: 'end_turn' })
})
