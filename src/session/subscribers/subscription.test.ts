/** A subscriber gets every entry once from its cursor on, and a slow subscriber does not delay others. */
import { describe, expect, test } from 'vitest'
import { quiet } from '../../../test/sim/clock.ts'
import { House, here, prompted } from '../../../test/sim/house.ts'
import { Reader } from '../../../test/sim/reader.ts'
import { transcriptOf } from '../../../test/sim/transcript.ts'
import { text } from '../../../test/sim/words.ts'
import { Subscription } from './subscription.ts'
import type { Session } from '../session.ts'

const attaching = { config: here, client: { name: 'reader' } }

async function speak(house: House, session: Session, { promptId, words }: { promptId: string; words: number }) {
  house.agent.script = async (turn) => {
    for (let n = 1; n <= words; n += 1) await turn.say(text(`${n} `))
    return 'end_turn'
  }
  await prompted(session, promptId)
}

describe('a client that joins', () => {
  test('gets the stored entries, then the live ones, from every possible cursor', async () => {
    const house = new House()
    const { session } = await house.open()
    await speak(house, session, { promptId: 'p1', words: 20 })
    const readers = await Promise.all(
      Array.from({ length: session.state.seq + 1 }, (_, from) => house.join(session, from)),
    )
    await speak(house, session, { promptId: 'p2', words: 5 })
    const stored = await house.disk.entries(session.id)
    for (const [from, reader] of readers.entries())
      expect(transcriptOf(reader.entries)).toEqual(transcriptOf(stored.slice(from)))
  })

  test('has its next page read while the one before is sent, unless it reads slowly', async () => {
    const house = new House()
    const { session } = await house.open()
    await speak(house, session, { promptId: 'p1', words: 2_000 })
    const reader = new Reader(house.disk, session.id)
    const feed = await session.subscribe(0, reader, attaching)
    const page = house.disk.page.bind(house.disk)
    const sentWhenRead: number[] = []
    house.disk.page = (...asked) => {
      sentWhenRead.push(feed.cursor)
      return page(...asked)
    }
    await feed.replay()
    expect(sentWhenRead).toEqual([0, 0, 512, 1_024])
    sentWhenRead.length = 0
    const slow = new Reader(house.disk, session.id)
    const slowFeed = await session.subscribe(0, slow, attaching)
    slow.stall()
    const replayed = slowFeed.replay()
    await quiet()
    expect(sentWhenRead).toEqual([])
    slow.readOn()
    await replayed
    expect(transcriptOf(slow.entries)).toEqual(transcriptOf(reader.entries))
  })

  test('gets nothing after it has left', async () => {
    const house = new House()
    const { session } = await house.open()
    const reader = new Reader(house.disk, session.id)
    const feed = await session.subscribe(0, reader, attaching)
    await feed.goLive()
    feed.end()
    feed.end()
    await speak(house, session, { promptId: 'p1', words: 1 })
    expect(reader.kinds).toEqual(['session_created'])
    expect(session.clients.size).toBe(1)
  })

  test('and leaves during its replay gets nothing more', async () => {
    const house = new House()
    const { session } = await house.open()
    await speak(house, session, { promptId: 'p1', words: 1 })
    const reader = new Reader(house.disk, session.id)
    const feed = await session.subscribe(0, reader, attaching)
    house.disk.hold()
    const replayed = feed.replay()
    await quiet()
    feed.end()
    house.disk.release()
    await replayed
    await feed.goLive()
    expect(reader.entries).toEqual([])
  })

  test('keeps what it got when the journal cannot be read for long, and can resume from there', async () => {
    const house = new House()
    const { session } = await house.open()
    await speak(house, session, { promptId: 'p1', words: 2_000 })
    const reader = new Reader(house.disk, session.id)
    const feed = await session.subscribe(0, reader, attaching)
    house.disk.hold()
    const replayed = feed.replay()
    await quiet()
    house.disk.serve()
    await quiet()
    house.disk.trouble = 'unreadable'
    house.disk.release()
    const refused = replayed.catch((error: unknown) => error)
    await house.clock.advance(10_000)
    expect(await refused).toMatchObject({ code: 'JOURNAL_IO' })
    expect(reader.entries.at(-1)?.seq).toBe(feed.cursor)
    house.disk.trouble = 'none'
    await feed.goLive()
    expect(transcriptOf(reader.entries)).toEqual(transcriptOf(await house.disk.entries(session.id)))
  })

  test('and whose journal cannot be read for a moment gets the rest by itself, without a new entry', async () => {
    const house = new House()
    const { session } = await house.open()
    await speak(house, session, { promptId: 'p1', words: 3 })
    const reader = new Reader(house.disk, session.id)
    const feed = await session.subscribe(0, reader, attaching)
    house.disk.trouble = 'unreadable'
    void feed.goLive()
    await house.clock.advance(5_000)
    expect({ entries: reader.entries, failures: reader.failures }).toEqual({ entries: [], failures: [] })
    house.disk.trouble = 'none'
    await house.clock.advance(1_500)
    expect(transcriptOf(reader.entries)).toEqual(transcriptOf(await house.disk.entries(session.id)))
  })
})

test('a sink that throws is cut off at once, with its cursor before the entry that it refused', async () => {
  const house = new House()
  const { session } = await house.open()
  const reader = new Reader(house.disk, session.id)
  const subscription = await session.subscribe(0, reader, attaching)
  await subscription.goLive()
  const cursor = session.state.seq
  reader.refuses = new Error('no such luck')
  await speak(house, session, { promptId: 'p1', words: 3 })
  reader.refuses = undefined
  await speak(house, session, { promptId: 'p2', words: 3 })
  expect({ cursor: subscription.cursor, cutOff: reader.cutOffs }).toEqual({
    cursor,
    cutOff: [new Error('no such luck')],
  })
  expect(reader.entries.at(-1)?.seq).toBe(cursor)
  expect(session.clients.size).toBe(1)
})

test('a reader that missed some entries gets them from the journal before later ones, and none twice that it has', async () => {
  const house = new House()
  const { session } = await house.open()
  const reader = new Reader(house.disk, session.id)
  const before = await session.snapshot()
  let view = before
  // It is no subscriber of the session, so that nothing is pushed to it but by this test.
  const ports = { journal: house.disk, clock: house.clock }
  const parts = { ports, clients: session.clients, session: { view: () => view, remove: () => {} } }
  const subscription = new Subscription(parts, reader, 0)
  await subscription.goLive()
  await speak(house, session, { promptId: 'p1', words: 3 })
  const stored = await house.disk.entries(session.id)
  view = await session.snapshot()
  subscription.pushEntries(stored.slice(-1), view)
  await quiet()
  expect(transcriptOf(reader.entries)).toEqual(transcriptOf(stored))
  const after = view
  view = before
  const overlapped = new Reader(house.disk, session.id)
  const other = new Subscription(parts, overlapped, before.seq)
  await other.goLive()
  for (const entries of [stored.slice(0, 3), stored.slice(2, 5), stored.slice(3)]) other.pushEntries(entries, after)
  expect(overlapped.entries).toEqual(stored.slice(before.seq))
  expect(other.cursor).toBe(after.seq)
})

describe('the view of a client', () => {
  test('is that after the last entry that it got, with the open permission request', async () => {
    const house = new House()
    house.agent.script = async (turn) => {
      await turn.ask({ toolCallId: 'c1', patch: { title: 'Look' }, options: [], state: null })
      return 'end_turn'
    }
    const { session, reader } = await house.open()
    expect(reader.view).toMatchObject({ seq: 1, phase: 'idle', turn: null, questions: [] })
    await prompted(session, 'p1')
    expect(reader.view).toMatchObject({ phase: 'waiting', turn: { promptId: 'p1' }, questions: [{ toolCallId: 'c1' }] })
    expect(reader.view?.seq).toBe(reader.entries.at(-1)?.seq)
    expect(await session.snapshot()).toEqual(reader.view)
  })

  test('is undefined while it is behind', async () => {
    const house = new House()
    const { session, reader } = await house.open()
    reader.stall()
    await speak(house, session, { promptId: 'p1', words: 3 })
    expect(reader.view).toBeUndefined()
    reader.readOn()
    await quiet()
    expect(reader.view).toMatchObject({ seq: session.state.seq, phase: 'idle', recentPrompts: [{ promptId: 'p1' }] })
  })
})

describe('a client that does not read', () => {
  test('costs no memory, delays no other client, and gets every entry once when it reads again', async () => {
    const house = new House()
    const { session, reader } = await house.open()
    const slow = await house.join(session)
    slow.stall()
    await speak(house, session, { promptId: 'p1', words: 3_000 })
    expect(slow.owed).toBe(0)
    expect(reader.kinds.at(-1)).toBe('turn_ended')
    slow.readOn()
    await quiet()
    await speak(house, session, { promptId: 'p2', words: 3 })
    const stored = await house.disk.entries(session.id)
    expect(transcriptOf(slow.entries)).toEqual(transcriptOf(stored))
    expect(reader.entries).toEqual(stored)
  })

  test('and stalls again while it catches up: at most one page is buffered for it', async () => {
    const house = new House()
    const { session } = await house.open()
    const slow = await house.join(session)
    slow.stall()
    await speak(house, session, { promptId: 'p1', words: 5_000 })
    house.disk.hold()
    slow.readOn()
    await quiet()
    slow.stall()
    house.disk.release()
    await quiet()
    expect(slow.owed).toBeLessThanOrEqual(512)
    expect(slow.entries.at(-1)?.seq).toBeLessThan(session.state.seq)
    slow.readOn()
    await quiet()
    expect(transcriptOf(slow.entries)).toEqual(transcriptOf(await house.disk.entries(session.id)))
  })

  test.each(['with the next entry', 'by itself, after a second'])(
    'gets the error when catching up fails for long, and catches up %s',
    async (how) => {
      const house = new House()
      const { session } = await house.open()
      const slow = await house.join(session)
      slow.stall()
      await speak(house, session, { promptId: 'p1', words: 3 })
      house.disk.trouble = 'unreadable'
      slow.readOn()
      await house.clock.advance(9_000)
      expect(slow.failures).toEqual([])
      await house.clock.advance(1_000)
      expect(slow.failures).toMatchObject([{ code: 'JOURNAL_IO' }])
      house.disk.trouble = 'none'
      if (how === 'with the next entry') await speak(house, session, { promptId: 'p2', words: 3 })
      else await house.clock.advance(1_000)
      expect(transcriptOf(slow.entries)).toEqual(transcriptOf(await house.disk.entries(session.id)))
    },
  )

  test('gets the error once when the session was deleted meanwhile', async () => {
    const house = new House()
    const { session } = await house.open()
    const slow = await house.join(session)
    slow.stall()
    await speak(house, session, { promptId: 'p1', words: 3 })
    await house.disk.delete(session.id)
    slow.readOn()
    await house.clock.advance(30_000)
    expect(slow.failures).toMatchObject([{ code: 'SESSION_NOT_FOUND' }])
  })
})
