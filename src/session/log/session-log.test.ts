/**
 * An entry is stored before it is seen: how the one writer of a session behaves when its disk is slow or full, loses data,
 * or belongs to another server.
 */
import { describe, expect, test } from 'vitest'
import { quiet } from '../../../test/sim/clock.ts'
import { House, here, prompted } from '../../../test/sim/house.ts'
import { type Script, signal, untilCancelled } from '../../../test/sim/puppet.ts'
import { account } from '../../../test/sim/account.ts'
import { cancel, prompt, rename, text } from '../../../test/sim/words.ts'

/** Sends a text whenever the test gives one; `null` ends the turn. */
function dictated() {
  let next = signal<string | null>()
  const script: Script = async (turn) => {
    for (;;) {
      const words = await next.given
      if (words === null) return 'end_turn'
      await turn.say(text(words))
    }
  }
  async function say(words: string | null): Promise<void> {
    const { give } = next
    next = signal()
    give(words)
    await quiet()
  }
  return { script, say }
}

describe('a slow disk', () => {
  test('publishes nothing that is not stored yet', async () => {
    const house = new House()
    const { session, reader } = await house.open()
    house.disk.hold()
    const accepted = session.prompt('p1', [text('Hello')])
    await quiet()
    expect(reader.kinds).toEqual(['session_created'])
    expect(house.agent.turns).toEqual([])
    house.disk.serve()
    await accepted
    expect(reader.kinds.slice(1)).toEqual(['prompt_accepted', 'turn_started', 'message_chunk', 'title'])
    expect(reader.early).toEqual([])
  })

  test('pauses an agent that sends more than may be queued', async () => {
    const house = new House()
    const said = { count: 0 }
    house.agent.script = async (turn) => {
      for (; said.count < 5_000; said.count += 1) await turn.say(text('x'))
      return 'end_turn'
    }
    const { session, reader } = await house.open()
    await prompted(session, 'p0')
    said.count = 0
    await session.prompt('p1', [text('Hello')])
    house.disk.hold()
    await quiet()
    const before = said.count
    await quiet()
    expect(said.count).toBe(before)
    expect(before).toBeLessThan(1_000)
    house.disk.release()
    await expect.poll(() => reader.entries.at(-1)).toMatchObject({ kind: 'turn_ended', promptId: 'p1' })
    expect(said.count).toBe(5_000)
  })

  test('gets the commands that arrived meanwhile in one batch', async () => {
    const house = new House()
    const { say, script } = dictated()
    house.agent.script = script
    const { session, reader } = await house.open()
    await prompted(session, 'p1')
    house.disk.hold()
    for (const words of ['one ', 'two ', 'three ', 'four']) await say(words)
    expect(house.disk.waiting).toBe(1)
    house.disk.serve()
    await quiet()
    expect(reader.text).toBe('one ')
    house.disk.serve()
    await quiet()
    expect(reader.text).toBe('one two three four')
    expect(house.disk.batches.slice(-2)).toEqual([1, 3])
  })

  test.each([
    ['words', 'x', 300],
    ['long texts', 'x'.repeat(100_000), 6],
  ])('pauses an agent that sends without end, in %s', async (_what, words, most) => {
    const house = new House()
    let said = 0
    house.agent.script = async (turn) => {
      while (!turn.signal.aborted) {
        await turn.say(text(words))
        said += 1
      }
      return 'cancelled'
    }
    const { session, reader } = await house.open()
    house.disk.hold()
    void session.prompt('p1', [text('Hello')])
    await quiet()
    for (let served = 1; served <= 20; served += 1) {
      house.disk.serve()
      await quiet()
      expect(said).toBeLessThanOrEqual(served * most)
    }
    expect(Math.max(...house.disk.batches)).toBeLessThanOrEqual(most)
    expect(reader.early).toEqual([])
    const cancelled = session.dispatch({ kind: 'cancel', queued: [] })
    house.disk.release()
    await cancelled
  })
})

describe('a failure after the entries are stored', () => {
  test.each(['session.batch.stored', 'session.batch.published'] as const)(
    'at %s is reported, and the command returns its entries',
    async (point) => {
      const house = new House()
      const { session, reader } = await house.open()
      house.fault = (reached) => {
        if (reached === point) throw new Error('no such luck')
      }
      const entries = await session.prompt('p1', [text('Hello')])
      await quiet()
      expect(entries[0]).toMatchObject({ kind: 'prompt_accepted' })
      expect(reader.kinds.at(-1)).toBe('turn_ended')
      expect(reader.failures).toEqual([])
      expect(house.reported).not.toEqual([])
    },
  )

  test('a turn whose tools cannot be opened ends with that error', async () => {
    const house = new House()
    const { session, reader } = await house.open()
    house.tools.open = () => {
      throw new Error('no more descriptors')
    }
    // Other directories than the session has: their tools are opened for this turn.
    await session.dispatch({ kind: 'prompt', promptId: 'p1', content: [text('x')], additionalDirectories: ['/more'] })
    await house.clock.advance(5_000)
    await quiet()
    expect(session.state.phase).toBe('idle')
    expect(reader.entries.at(-1)).toMatchObject({
      kind: 'turn_ended',
      stopReason: 'error',
      error: { message: 'no more descriptors' },
    })
    expect(reader.failures).toEqual([])
    expect(house.reported).toMatchObject([{ message: 'no more descriptors' }])
  })

  test('a turn releases its tools, whatever fails at its end', async () => {
    const house = new House()
    const { session } = await house.open()
    house.fault = (reached) => {
      if (reached === 'turn.ended') throw new Error('no such luck')
    }
    await session.dispatch({ kind: 'prompt', promptId: 'p1', content: [text('x')], additionalDirectories: ['/more'] })
    await quiet()
    expect(session.state.phase).toBe('idle')
    expect(house.tools.running).toBe(1)
  })
})

describe('a full disk', () => {
  test('refuses a prompt, changes nothing, and takes it when there is room', async () => {
    const house = new House()
    const { session, reader } = await house.open()
    const before = session.state
    house.disk.trouble = 'full'
    await expect(prompted(session, 'p1')).rejects.toMatchObject({ code: 'JOURNAL_FULL' })
    expect(session.state).toEqual(before)
    expect(reader.kinds).toEqual(['session_created'])
    expect(reader.failures).toEqual([])
    house.disk.trouble = 'none'
    await prompted(session, 'p1')
    expect(reader.kinds.at(-1)).toBe('turn_ended')
  })

  test('in mid-turn reaches the readers; nothing is published after the gap, and the turn ends once when there is room', async () => {
    const house = new House()
    const { say, script } = dictated()
    house.agent.script = script
    const { session, reader } = await house.open()
    await prompted(session, 'p1')
    await say('before ')
    house.disk.hold()
    await say('lost ')
    await say('after the hole ')
    house.disk.trouble = 'full'
    house.disk.serve()
    await quiet()
    house.disk.trouble = 'none'
    house.disk.release()
    await say('more ')
    await house.clock.advance(5_000)
    expect(reader.failures[0]).toMatchObject({ code: 'JOURNAL_FULL' })
    expect(reader.text).toBe('before ')
    expect(reader.entries.at(-1)).toMatchObject({
      kind: 'turn_ended',
      stopReason: 'error',
      error: { code: 'JOURNAL_FULL' },
    })
    expect(account(await house.disk.entries(session.id)).ends('p1')).toBe(1)
  })

  test('at the end of a turn: a turn that lost text never ends as end_turn', async () => {
    const house = new House()
    const { say, script } = dictated()
    house.agent.script = script
    const { session, reader } = await house.open()
    await prompted(session, 'p1')
    house.disk.hold()
    await say('kept ')
    await say('lost')
    await say(null)
    house.disk.serve()
    await quiet()
    house.disk.trouble = 'full'
    house.disk.release()
    await house.clock.advance(10_000)
    expect(session.state.phase).toBe('working')
    house.disk.trouble = 'none'
    await house.clock.advance(5_000)
    expect(reader.text).toBe('kept ')
    expect(reader.entries.at(-1)).toMatchObject({
      kind: 'turn_ended',
      stopReason: 'error',
      error: { code: 'JOURNAL_FULL' },
    })
    await prompted(session, 'p2')
    expect(house.agent.turns).toHaveLength(2)
  })

  test('rejects the update of an agent that waits for room', async () => {
    const house = new House()
    let stopped: unknown
    house.agent.script = async (turn) => {
      for (;;) await turn.say(text('x')).catch((error: unknown) => Promise.reject((stopped = error)))
    }
    const { session } = await house.open()
    house.disk.hold()
    void session.prompt('p1', [text('Hello')])
    await quiet()
    house.disk.serve()
    await quiet()
    house.disk.trouble = 'full'
    house.disk.release()
    await quiet()
    expect(stopped).toMatchObject({ code: 'JOURNAL_FULL' })
    house.disk.trouble = 'none'
    await house.clock.advance(5_000)
    expect(session.state.phase).toBe('idle')
  })
})

describe('a failed append that does not concern the running turn', () => {
  async function working() {
    const house = new House()
    const { say, script } = dictated()
    house.agent.script = script
    const { session, reader } = await house.open()
    await prompted(session, 'p1')
    await say('one ')
    return { house, session, reader, say }
  }

  test('does not end the turn, and no client is notified', async () => {
    const { house, session, reader, say } = await working()
    house.disk.trouble = 'full'
    // As a client that loads the session does.
    await session.applyConfig({ ...here, additionalDirectories: ['/more'] })
    await expect(session.prompt('p2', [text('x')])).rejects.toMatchObject({ code: 'JOURNAL_FULL' })
    house.disk.trouble = 'none'
    await say('two')
    await say(null)
    expect(reader.text).toBe('one two')
    expect(reader.entries.at(-1)).toMatchObject({ kind: 'turn_ended', stopReason: 'end_turn' })
    expect(reader.failures).toEqual([])
  })

  test('does not lose what the turn sent meanwhile', async () => {
    const { house, session, reader, say } = await working()
    house.disk.hold()
    const renamed = session.dispatch(rename('Mine'))
    await quiet()
    await say('two ')
    await say('three')
    house.disk.next = 'full'
    house.disk.release()
    await expect(renamed).rejects.toMatchObject({ code: 'JOURNAL_FULL' })
    await say(null)
    expect(reader.text).toBe('one two three')
    expect(reader.entries.at(-1)).toMatchObject({ kind: 'turn_ended', stopReason: 'end_turn' })
  })

  test('but was stored all the same reaches every client, and the turn continues', async () => {
    const { house, session, reader, say } = await working()
    Object.assign(house.disk, { next: 'lost answer', trouble: 'unreadable' })
    await expect(session.dispatch(rename('Mine'))).rejects.toMatchObject({ code: 'JOURNAL_IO' })
    house.disk.trouble = 'none'
    await house.clock.advance(5_000)
    await say('two')
    await say(null)
    expect(reader.entries).toEqual(await house.disk.entries(session.id))
    expect(reader.kinds).toContain('title')
    expect(reader.entries.at(-1)).toMatchObject({ kind: 'turn_ended', stopReason: 'end_turn' })
    expect(reader.failures).toEqual([])
  })

  test('ends the turn when the agent sends text before the journal can be read again', async () => {
    const { house, session, reader, say } = await working()
    Object.assign(house.disk, { next: 'lost answer', trouble: 'unreadable' })
    await expect(session.dispatch(rename('Mine'))).rejects.toMatchObject({ code: 'JOURNAL_IO' })
    await say('lost')
    house.disk.trouble = 'none'
    await house.clock.advance(5_000)
    expect(reader.text).toBe('one ')
    expect(reader.entries.at(-1)).toMatchObject({ kind: 'turn_ended', stopReason: 'error' })
    expect(reader.failures[0]).toMatchObject({ code: 'JOURNAL_IO' })
  })

  test('a failed append that lost a cancel ends the turn', async () => {
    const { house, session, reader } = await working()
    house.disk.next = 'full'
    await expect(session.dispatch(cancel())).rejects.toMatchObject({ code: 'JOURNAL_FULL' })
    await house.clock.advance(5_000)
    expect(reader.entries.at(-1)).toMatchObject({ kind: 'turn_ended', stopReason: 'error' })
  })
})

describe('an append that is stored but reported as failed', () => {
  test('sends every entry to every reader once', async () => {
    const house = new House()
    const { say, script } = dictated()
    house.agent.script = script
    const { session, reader } = await house.open()
    await prompted(session, 'p1')
    house.disk.next = 'lost answer'
    await say('Hello')
    await house.clock.advance(5_000)
    const stored = await house.disk.entries(session.id)
    expect(reader.entries).toEqual(stored)
    expect(stored.at(-1)).toMatchObject({ kind: 'turn_ended', stopReason: 'error' })
    expect(account(stored).ends('p1')).toBe(1)
  })

  test.each(['p1', 'p2'])('gives prompt %s one end, though it never ran', async (promptId) => {
    const house = new House()
    const { session, reader } = await house.open()
    if (promptId === 'p2') await prompted(session, 'p1')
    house.disk.next = 'lost answer'
    await expect(prompted(session, promptId)).rejects.toMatchObject({ code: 'JOURNAL_IO' })
    await house.clock.advance(5_000)
    expect(reader.entries).toEqual(await house.disk.entries(session.id))
    expect(account(reader.entries).ends(promptId)).toBe(1)
    expect(session.state.phase).toBe('idle')
  })

  test.each([
    ['a prompt', 'p2'],
    ['what a turn says', 'p1'],
  ])('is read back as soon as the journal can be read, after %s, and %s ends once', async (_what, promptId) => {
    const house = new House()
    const { say, script } = dictated()
    house.agent.script = script
    const { session, reader } = await house.open()
    await prompted(session, 'p1')
    if (promptId === 'p2') await say(null)
    Object.assign(house.disk, { next: 'lost answer', trouble: 'unreadable' })
    if (promptId === 'p1') await say('Hello')
    else await expect(prompted(session, 'p2')).rejects.toMatchObject({ code: 'JOURNAL_IO' })
    await house.clock.advance(10_000)
    await expect(session.prompt('p3', [text('x')])).rejects.toMatchObject({ code: 'JOURNAL_IO' })
    house.disk.trouble = 'none'
    await house.clock.advance(5_000)
    const stored = await house.disk.entries(session.id)
    expect(reader.entries).toEqual(stored)
    expect(account(stored).ends(promptId)).toBe(1)
    expect(session.state.phase).toBe('idle')
    await prompted(session, 'p4')
    expect(account(await house.disk.entries(session.id)).accepted).toEqual([...new Set(['p1', promptId, 'p4'])])
  })

  test('lets the session be closed at that moment', async () => {
    const house = new House()
    house.agent.script = untilCancelled
    const { session } = await house.open()
    await prompted(session, 'p1')
    house.fault = (point) => {
      if (point === 'session.batch.stored' && session.state.phase === 'idle') {
        house.fault = () => {}
        throw new Error('the power was cut for a moment')
      }
    }
    await house.sessions.close(session.id)
    expect(session.state.phase).toBe('closed')
  })
})

describe('another process that writes to the session', () => {
  test('of two owners of one journal, the later keeps the session, and no entry is doubled', async () => {
    const house = new House()
    house.agent.script = untilCancelled
    const { session, reader } = await house.open()
    await prompted(session, 'p1')
    const other = new House(house.disk)
    const theirs = await other.sessions.open(session.id, here)
    await expect(session.prompt('p2', [text('x')])).rejects.toMatchObject({ code: 'JOURNAL_CONFLICT' })
    await prompted(theirs, 'p3')
    await house.clock.advance(10_000)
    const stored = await house.disk.entries(session.id)
    expect(stored.map(({ seq }) => seq)).toEqual(stored.map((_, n) => n + 1))
    expect(account(stored).accepted).toEqual(['p1', 'p3'])
    expect(reader.failures).toMatchObject([{ code: 'JOURNAL_CONFLICT' }])
  })

  test('that takes the session while it is being closed: the close fails, and the session can be opened again', async () => {
    const house = new House()
    house.agent.script = untilCancelled
    const { session } = await house.open()
    await prompted(session, 'p1')
    house.disk.hold()
    const closed = house.sessions.close(session.id)
    await quiet()
    house.disk.serve()
    house.disk.trouble = 'conflict'
    house.disk.release()
    await expect(closed).rejects.toMatchObject({ code: 'JOURNAL_CONFLICT' })
    house.disk.trouble = 'none'
    const again = await house.sessions.open(session.id, here)
    expect(again.existing.recentPrompts).toMatchObject([{ promptId: 'p1' }])
  })

  test('that appended first keeps its entries: this session closes, and the next load has them', async () => {
    const house = new House()
    house.agent.script = untilCancelled
    const { session, reader } = await house.open()
    await prompted(session, 'p1')
    const before = house.disk.stored(session.id)
    house.disk.trouble = 'conflict'
    await expect(session.prompt('p2', [text('x')])).rejects.toMatchObject({ code: 'JOURNAL_CONFLICT' })
    house.disk.trouble = 'none'
    await house.clock.advance(10_000)
    expect(reader.failures).toMatchObject([{ code: 'JOURNAL_CONFLICT' }])
    expect(house.disk.stored(session.id)).toBe(before)
    await expect(session.dispatch(prompt('p3', 'x'))).rejects.toMatchObject({ code: 'SESSION_CLOSED' })
    expect(house.tools.running).toBe(0)
    const again = await house.sessions.open(session.id, here)
    expect(again.existing.recentPrompts).toEqual([{ promptId: 'p1', stopReason: 'interrupted' }])
    await prompted(again, 'p4')
    expect(again.state.phase).toBe('working')
  })
})

test('a subscription that throws affects neither the writer nor the other subscriptions', async () => {
  const house = new House()
  const { session, reader } = await house.open()
  const broken = await house.join(session)
  Object.assign(broken, { take: () => fault(), failed: () => fault() })
  house.disk.trouble = 'full'
  await expect(prompted(session, 'p1')).rejects.toMatchObject({ code: 'JOURNAL_FULL' })
  house.disk.trouble = 'none'
  await prompted(session, 'p2')
  expect(reader.kinds.at(-1)).toBe('turn_ended')
})

function fault(): never {
  throw new Error('the reader is broken')
}
