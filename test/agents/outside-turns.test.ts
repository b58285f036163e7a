/** Turns that were made in the agent's own tool, and its list of sessions, by which they are found. */
import { expect, test } from 'vitest'
import { until } from '../fixtures/process/running.ts'
import { OPENING, Stage, called, lastPrompt, notices, pacedClock, prompted } from './stage.ts'

const LOADS = { capabilities: { loadSession: true } }

test.concurrent("turns that were made in the agent's own tool are taken in once, before the prompt's answer, and said [36]", async () => {
  await using stage = new Stage()
  const fake = stage.fake(LOADS)
  const { session, reader } = await stage.open()
  await prompted(session, reader, 'one')
  const first = await stage.killed(session.id)
  const [theirs = ''] = fake.sessions
  fake.turnOutside(theirs, 'typed elsewhere', 'answered there')
  fake.turnOutside(theirs, 'and again', 'once more')
  await prompted(first.session, first.reader, 'two')
  expect(notices(first.reader)).toEqual(["2 turns were added outside Parley, in fake's own session:"])
  expect(first.reader.text).toBe('echo: oneanswered thereonce moreecho: two')
  expect(lastPrompt(fake)).toEqual(['two'])
  const second = await stage.killed(session.id)
  await prompted(second.session, second.reader, 'three')
  expect(second.reader.text).toBe('echo: oneanswered thereonce moreecho: twoecho: three')
  expect(notices(second.reader)).toHaveLength(1)
  // The next time is said as well, though in the same words.
  fake.turnOutside(theirs, 'elsewhere', 'five')
  fake.turnOutside(theirs, 'once more', 'six')
  const third = await stage.killed(session.id)
  await prompted(third.session, third.reader, 'four')
  expect(notices(third.reader)).toHaveLength(2)
})

test.concurrent('a turn outside with the same prompt and the same beginning is another turn, where messages keep their ids [36]', async () => {
  await using stage = new Stage()
  const plan = { ...LOADS, prompts: { go: [{ chunk: 'Going', messageId: 'm1' }] } }
  const fake = stage.fake(plan, { quirks: { stableIds: true } })
  const { session, reader } = await stage.open()
  await prompted(session, reader, 'go')
  const [theirs = ''] = fake.sessions
  // Its own tool went back to the beginning, and asked the same once more.
  fake.forgetTurns(theirs, 1)
  fake.turnOutside(theirs, 'go', { text: 'Going', messageId: 'm2' })
  const after = await stage.killed(session.id)
  await prompted(after.session, after.reader, 'on')
  expect(notices(after.reader)).toEqual([expect.stringContaining('1 turn was added outside Parley')])
  expect(lastPrompt(fake).at(-1)).toBe('on')
  expect(lastPrompt(fake).join('\n')).toContain('Going')
})

const LISTS = { capabilities: { loadSession: true, sessionCapabilities: { resume: {}, list: {} } } }

test.concurrent.each(['while nothing of it runs', 'while it lives'])(
  'turns that were made outside %s are found by the list of the agent, though it could resume [36]',
  async (when) => {
    // The agent's list is waited for a second of this clock.
    await using stage = new Stage({ lookAfterMs: 0, afterthoughtMs: 0 }, undefined, pacedClock(0.1))
    const fake = stage.fake(LISTS)
    const { session, reader } = await stage.open()
    const { at } = await prompted(session, reader, 'one')
    // A list has milliseconds: what comes in the one in which the turn ended is not seen as later.
    await until(() => Date.now() > at)
    const now = when === 'while it lives' ? { session, reader } : await stage.killed(session.id)
    const [theirs = ''] = fake.sessions
    fake.turnOutside(theirs, 'typed elsewhere', 'answered there')
    await prompted(now.session, now.reader, 'two')
    expect(now.reader.text).toBe('echo: oneanswered thereecho: two')
    expect(called(fake, ...OPENING)).toEqual([1, 1, 0])
  },
)

test.concurrent('an agent that cannot load goes on after a turn outside, and a notice says that this is not shown [36]', async () => {
  await using stage = new Stage({ lookAfterMs: 0, afterthoughtMs: 0 }, undefined, pacedClock(0.1))
  const fake = stage.fake({ capabilities: { sessionCapabilities: { resume: {}, list: {} } } })
  const { session, reader } = await stage.open()
  const { at } = await prompted(session, reader, 'one')
  await until(() => Date.now() > at)
  const same = await stage.killed(session.id)
  await prompted(same.session, same.reader, 'two')
  expect(notices(same.reader)).toEqual([])
  const last = same.reader.entries.at(-1)?.at ?? 0
  await until(() => Date.now() > last)
  const after = await stage.killed(session.id)
  fake.turnOutside(fake.sessions[0] ?? '', 'typed elsewhere', 'answered there')
  await prompted(after.session, after.reader, 'three')
  expect(notices(after.reader)).toEqual([
    "fake's own session went on outside Parley; fake cannot show what came there.",
  ])
  expect(called(fake, ...OPENING)).toEqual([1, 0, 2])
})

test.concurrent('a list that is endless, has no times or fails says nothing: the agent resumes [38]', async () => {
  await using stage = new Stage({ lookAfterMs: 0, afterthoughtMs: 0 })
  const endless = { answer: { sessions: [{ sessionId: 'other', cwd: '/' }], nextCursor: 'again' } }
  const fake = stage.fake({ ...LISTS, on: { 'session/list': [endless] } })
  const { session, reader } = await stage.open()
  await prompted(session, reader, 'one')
  for (const moves of [[endless], [{ fail: { code: -32_603, message: 'bad cursor' } }], [{ silent: true as const }]]) {
    fake.becomes({ ...LISTS, on: { 'session/list': moves } })
    const after = await stage.killed(session.id)
    expect(await prompted(after.session, after.reader, 'next')).toMatchObject({ stopReason: 'end_turn' })
  }
  expect(called(fake, ...OPENING)).toEqual([1, 0, 3])
})
