/** A fork begins as a copy of its source, ends what the copy left open, and then continues on its own. */
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Turn } from '../../ports/agent.ts'
import { account } from '../../../test/sim/account.ts'
import { quiet } from '../../../test/sim/clock.ts'
import { House, here, prompted } from '../../../test/sim/house.ts'
import { signal, untilCancelled } from '../../../test/sim/puppet.ts'
import { live, replayed, wishes } from '../../../test/sim/wishes.ts'
import { options, text } from '../../../test/sim/words.ts'
import { decideBatch } from '../domain/decide.ts'
import { type Entry, decodeEntry } from '../domain/entries.ts'
import { loadState } from '../log/session-log.ts'
import { forkedConversation } from './conversations.ts'

const bodies = <E extends { readonly at: number }>(entries: readonly E[]) =>
  entries.map(({ at: _when, ...body }) => body)

async function working() {
  const house = new House()
  house.agent.script = async (turn) => {
    await turn.say(text('Half an answer'))
    return untilCancelled(turn)
  }
  const opened = await house.open()
  await prompted(opened.session, 'p1', 'What is it?')
  return { house, ...opened }
}

describe('a fork of a session', () => {
  test('that is idle has the entries of its source, names its source, and has a title of its own', async () => {
    const house = new House()
    const { session } = await house.open()
    await prompted(session, 'p1', 'What is it?')
    const id = await house.sessions.fork(session.id)
    const source = await house.disk.entries(session.id)
    const [from, title, ...more] = (await house.disk.entries(id)).slice(source.length)
    expect((await house.disk.entries(id)).slice(0, source.length)).toEqual(source)
    expect(from).toMatchObject({ kind: 'forked_from', from: { session: session.id, seq: source.length } })
    expect(title).toMatchObject({ kind: 'title', title: 'Fork of What is it?' })
    expect(more).toEqual([])
    expect(await house.sessions.find(id)).toMatchObject({ phase: 'idle', cwd: here.cwd, title: 'Fork of What is it?' })
  })

  test('in the middle of a turn ends that turn as interrupted; the source continues unchanged', async () => {
    const { house, session, reader } = await working()
    await session.prompt('p2', [text('And then?')])
    const before = reader.entries.length
    const id = await house.sessions.fork(session.id)
    const fork = await house.disk.entries(id)
    expect(bodies(fork.slice(0, before))).toEqual(bodies(reader.entries))
    expect(fork.slice(before).map(({ kind }) => kind)).toEqual([
      'forked_from',
      'prompt_withdrawn',
      'turn_ended',
      'title',
    ])
    expect(account(fork)).toMatchObject({ strays: [], openCalls: [], openQuestions: [] })
    expect(session.state).toMatchObject({ phase: 'working', queue: [{ promptId: 'p2' }] })
    expect(reader.entries).toHaveLength(before)
  })

  test('whose source waits for an answer asks no client; the request stays open in the source', async () => {
    const house = new House()
    house.agent.script = async (turn) => {
      await turn.ask({ toolCallId: 'c1', patch: { title: 'Delete everything' }, options, state: null })
      return 'end_turn'
    }
    const { session } = await house.open()
    await prompted(session, 'p1')
    const fork = await house.sessions.open(await house.sessions.fork(session.id), here)
    expect(fork.existing).toMatchObject({
      phase: 'idle',
      recentPrompts: [{ promptId: 'p1', stopReason: 'interrupted' }],
    })
    expect(account(await house.disk.entries(fork.id))).toMatchObject({ openCalls: [], openQuestions: [] })
    expect(session.state.phase).toBe('waiting')
  })

  test('whose source streams has exactly the entries of that moment', async () => {
    const house = new House()
    const go = signal()
    house.agent.script = async (turn) => {
      await turn.say(text('one '))
      await go.given
      for (let n = 0; n < 500; n += 1) await turn.say(text(`${n} `))
      return 'end_turn'
    }
    const { session } = await house.open()
    await prompted(session, 'p1')
    const head = session.state.seq
    const forking = house.sessions.fork(session.id)
    go.give()
    const id = await forking
    await quiet()
    const source = await house.disk.entries(session.id)
    expect(source.length).toBeGreaterThan(head + 500)
    const fork = await house.disk.entries(id)
    const at = fork.findIndex(({ kind }) => kind === 'forked_from')
    expect(fork.slice(0, at)).toEqual(source.slice(0, at))
    expect(fork[at]).toMatchObject({ from: { session: session.id, seq: at } })
  })

  test('is independent of its source: turns, prompts and permissions', async () => {
    const { house, session } = await working()
    const id = await house.sessions.fork(session.id)
    house.agent.script = async (turn) => {
      await turn.say(text('Another answer'))
      return 'end_turn'
    }
    const fork = await house.sessions.open(id, here)
    await prompted(fork, 'p2')
    expect(fork.existing).toMatchObject({ phase: 'idle', turns: 2 })
    expect(await fork.prompt('p1', [text('What is it?')])).toEqual([])
    expect(session.state).toMatchObject({ phase: 'working', turn: { promptId: 'p1' } })
  })

  test('has none of the grants of its source', async () => {
    const house = new House()
    const { session } = await house.open()
    house.agent.script = async (turn) => {
      await turn.call({ name: 'files__delete', args: {}, permission: 'policy' })
      return 'end_turn'
    }
    house.tools.add('files__delete', async () => ({ content: [], isError: false }))
    await prompted(session, 'p1')
    const { state } = session
    if (state.phase !== 'waiting') throw new Error('it must have asked')
    await session.dispatch({ kind: 'answer', requestId: state.questions[0]?.requestId ?? '', optionId: 'allow_always' })
    await quiet()
    expect(session.existing.grants).toEqual([{ effect: 'allow', tool: 'files__delete', definition: 'files__delete' }])
    const fork = await house.sessions.open(await house.sessions.fork(session.id), here)
    expect(fork.existing.grants).toEqual([])
  })

  test('can itself be closed, opened and forked; its source need not be open', async () => {
    const house = new House()
    const { session } = await house.open()
    await prompted(session, 'p1', 'What is it?')
    await house.sessions.close(session.id)
    const next = new House(house.disk)
    // Its ids begin anew, and the first is taken.
    next.clock.id()
    const first = await next.sessions.fork(session.id)
    const second = await next.sessions.fork(first)
    expect(await next.sessions.find(second)).toMatchObject({ phase: 'idle', title: 'Fork of What is it?' })
    await next.sessions.delete(session.id)
    await next.sessions.delete(first)
    const opened = await next.sessions.open(second, here)
    await prompted(opened, 'p2')
    expect(opened.existing).toMatchObject({ phase: 'idle', turns: 2 })
  })

  test('can end at any entry of its source, and at no other number', async () => {
    const { house, session } = await working()
    const { seq: head } = session.state
    for (const at of [0, -1, head + 1, 1.5, Number.NaN])
      await expect(house.sessions.fork(session.id, at)).rejects.toMatchObject({
        code: 'FORK_POINT_UNKNOWN',
        details: { session: session.id, at, head },
      })
    for (let at = 1; at <= head; at += 1) {
      const id = await house.sessions.fork(session.id, at)
      const opened = await loadState({ journal: house.disk }, id)
      expect([at, opened.phase]).toEqual([at, 'idle'])
      await house.sessions.delete(id)
    }
    await expect(house.sessions.fork('s-9')).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' })
    expect(await house.sessions.list({ limit: 9 })).toHaveLength(1)
  })

  test('fails on a full disk, and leaves nothing behind', async () => {
    const { house, session } = await working()
    house.disk.trouble = 'full'
    await expect(house.sessions.fork(session.id)).rejects.toMatchObject({ code: 'JOURNAL_FULL' })
    expect(await house.sessions.list({ limit: 9 })).toHaveLength(1)
  })
})

test('a fork of any history, at any entry, has nothing open, and each of its prompts has one end', () => {
  const anyCut = fc.property(wishes, (wishes) => {
    const { stored } = live(wishes)
    for (let cut = 1; cut <= stored.length; cut += 1) {
      const copied = stored.slice(0, cut)
      const { state, entries } = decideBatch([{ kind: 'fork', session: 's-0' }], replayed(copied), 1)
      const all = [...copied.map(decodeEntry), ...entries]
      const { accepted, ends, strays, leftOpen, openQuestions } = account(all)
      const turns = (wanted: Entry['kind']) =>
        all.flatMap(({ kind, ...entry }) => (kind === wanted && 'turnId' in entry ? [entry.turnId] : []))
      expect(turns('turn_ended')).toEqual(turns('turn_started'))
      expect(state).toMatchObject({ phase: 'idle', grants: [] })
      expect({ strays, leftOpen, openQuestions }).toEqual({ strays: [], leftOpen: [], openQuestions: [] })
      for (const promptId of accepted) expect([cut, promptId, ends(promptId)]).toEqual([cut, promptId, 1])
    }
  })
  fc.assert(anyCut, { numRuns: 150 })
})

describe('the conversation that a fork can be copied from', () => {
  const usage = { size: 10, used: 1 }
  const acts: Readonly<Record<string, (turn: Turn) => Promise<void>>> = {
    'does nothing': async () => undefined,
    answers: (turn) => turn.say(text('x')),
    thinks: (turn) => turn.think(text('x')),
    plans: (turn) => turn.plan([]),
    'reports usage': (turn) => turn.usage(usage),
  }

  test.each(Object.entries(acts))('after a turn of another agent that %s and fails', async (what, act) => {
    const house = new House()
    house.agent.opened = (view) =>
      void view.remember({
        generation: 1,
        agent: 'puppet',
        version: '1.0.0',
        agentSessionId: 'a-1',
        how: 'new',
        caps: [],
        cwd: here.cwd,
        roots: [here.cwd],
        upTo: 1,
      })
    const { session } = await house.open()
    await prompted(session, 'p1', 'What is it?')
    const id = await house.sessions.fork(session.id)
    house.agents.named('script:/other').script = async (turn) => {
      await act(turn)
      throw new Error('no model')
    }
    await prompted(await house.sessions.open(id, { ...here, agent: 'script:/other' }), 'p2', 'And then?')
    const memory = await forkedConversation(house.disk, id)
    expect(memory?.agentSessionId).toBe(what === 'does nothing' ? 'a-1' : undefined)
  })
})
