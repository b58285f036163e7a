/** Nobody looks at a screen where nothing happens: a start tells its steps, a silence since when it lasts, and both can be ended. */
import { expect, test } from 'vitest'
import { until } from '../fixtures/process/running.ts'
import { Stage, endOf, pacedClock, prompted, sent } from './stage.ts'

test.concurrent('a client gets every step of a start, and its end', async () => {
  await using stage = new Stage()
  const fake = stage.fake({ capabilities: { loadSession: true }, on: { initialize: [{ gate: 'go' }] } })
  fake.open('go')
  const first = await stage.open()
  await prompted(first.session, first.reader, 'one')
  const { session, reader } = await stage.killed(first.session.id)
  expect(reader.activities).toEqual([undefined])
  await prompted(session, reader, 'two')
  const starts = reader.activities.filter((one) => one?.state === 'starting')
  expect([...new Set(starts.map((one) => one?.step))]).toEqual(['process', 'initialize', 'session', 'settings'])
  expect(new Set(starts.map((one) => one?.since)).size).toBe(1)
  expect(starts[0]).toMatchObject({ agent: 'fake' })
  expect(reader.activities.at(-1)).toBeUndefined()
})

test.concurrent('a client that comes during a start is told of it', async () => {
  await using stage = new Stage(undefined, undefined, pacedClock(5))
  const fake = stage.fake({ on: { initialize: [{ gate: 'go' }] } })
  const { session, reader } = await stage.open()
  const other = await stage.join(session)
  expect(other.activities[0]).toMatchObject({ state: 'starting' })
  await until(() => other.activities.at(-1)?.step === 'initialize')
  fake.open('go')
  await prompted(session, reader, 'hi')
  expect(other.activities.at(-1)).toBeUndefined()
})

test.concurrent('an agent that says nothing in a turn is quiet since then, in its open call, until it speaks', async () => {
  const call = { sessionUpdate: 'tool_call', toolCallId: 'c', title: 'Build it', status: 'in_progress' }
  await using stage = new Stage(undefined, 100)
  const fake = stage.fake({
    isProcess: true,
    prompts: { hi: [{ update: call }, { gate: 'go' }, { chunk: 'Done.' }] },
  })
  const { session, reader } = await stage.open()
  const promptId = await sent(session, 'hi')
  const quiet = () => reader.activities.filter((one) => one?.state === 'quiet')
  await until(() => quiet().length > 1)
  expect(quiet()[0]).toMatchObject({ agent: 'fake', calls: ['Build it'], since: expect.any(Number) as number })
  expect(quiet()[1]?.since).toBe(quiet()[0]?.since)
  expect(quiet()[1]?.usesCpu).toBeTypeOf('boolean')
  fake.open('go')
  await endOf(reader, promptId)
  await until(() => reader.activities.at(-1) === undefined)
})

test.concurrent('an agent that ignores a cancel is ended at once by a force, and the next prompt has another [23]', async () => {
  const plan = { on: { 'session/cancel': [] }, prompts: { hi: [{ chunk: 'working' }, { silent: true as const }] } }
  await using stage = new Stage()
  const fake = stage.fake(plan, { quirks: { cancelKillMs: 3_600_000 } })
  const { session, reader } = await stage.open()
  const promptId = await sent(session, 'hi')
  await until(() => reader.text.includes('working'))
  const [pid] = fake.processes
  expect(await stage.sessions.releaseAgent(session.id, 'idle')).toBe(false)
  expect(await stage.sessions.releaseAgent(session.id, 'now')).toBe(true)
  expect(await endOf(reader, promptId)).toMatchObject({ stopReason: 'cancelled' })
  expect(await prompted(session, reader, 'next')).toMatchObject({ stopReason: 'end_turn' })
  expect(fake.prompts).toEqual(['hi', 'next'])
  expect(fake.processes).not.toContain(pid)
})

test.concurrent('an idle agent lets go of its session when it is released, and is back with the next prompt', async () => {
  await using stage = new Stage()
  const fake = stage.fake({ capabilities: { loadSession: true } })
  const { session, reader } = await stage.open()
  await prompted(session, reader, 'one')
  expect(await stage.sessions.releaseAgent(session.id, 'idle')).toBe(true)
  expect(fake.processes).toEqual([])
  expect(await stage.sessions.releaseAgent(session.id, 'idle')).toBe(false)
  expect(await prompted(session, reader, 'two')).toMatchObject({ stopReason: 'end_turn' })
  expect(fake.prompts).toEqual(['one', 'two'])
})

test.concurrent('the process of an agent is told: what it is, what it uses, and that it is idle or at work', async () => {
  await using stage = new Stage()
  const fake = stage.fake({ isProcess: true, prompts: { two: [{ gate: 'go' }] } })
  const { session, reader } = await stage.open()
  await prompted(session, reader, 'one')
  const [pid] = fake.processes
  const process = { sessionId: session.id, agent: 'fake', version: '1.0.0', pid }
  const [idle] = await stage.sessions.agentProcesses()
  expect(idle).toMatchObject({ ...process, idleSeconds: expect.any(Number) as number })
  expect(idle?.residentBytes).toBeGreaterThan(1_000_000)
  const promptId = await sent(session, 'two')
  await until(() => fake.prompts.length === 2)
  const [busy] = await stage.sessions.agentProcesses()
  expect(busy).toMatchObject(process)
  expect(busy).not.toHaveProperty('idleSeconds')
  fake.open('go')
  await endOf(reader, promptId)
  await stage.sessions.releaseAgent(session.id, 'idle')
  expect(await stage.sessions.agentProcesses()).toEqual([])
})
