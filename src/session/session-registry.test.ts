/** All sessions of one owner: opened, closed, deleted, halted and recovered, also all at once. */
import { describe, expect, test } from 'vitest'
import { account } from '../../test/sim/account.ts'
import { quiet } from '../../test/sim/clock.ts'
import { House, here, prompted } from '../../test/sim/house.ts'
import { deaf, untilCancelled } from '../../test/sim/puppet.ts'
import { answer, options, prompt, text } from '../../test/sim/words.ts'
import { openQuestions } from './domain/state.ts'

async function working(script = untilCancelled) {
  const house = new House()
  house.agent.script = script
  const opened = await house.open()
  await prompted(opened.session, 'p1')
  return { house, ...opened }
}

async function waiting() {
  return working(async (turn) => {
    await turn.ask({ toolCallId: 'c1', patch: { title: 'x' }, options, state: null })
    return 'end_turn'
  })
}

describe('creating a session', () => {
  test('on a full disk fails, and leaves nothing behind', async () => {
    const house = new House()
    house.disk.trouble = 'full'
    await expect(house.sessions.create(here)).rejects.toMatchObject({ code: 'JOURNAL_FULL' })
    expect(house.tools.running).toBe(0)
    expect(await house.sessions.list({ limit: 10 })).toEqual([])
  })

  test('while the server stops fails', async () => {
    const house = new House()
    const creating = house.sessions.create(here).catch((error: unknown) => error)
    await house.sessions.halt()
    expect(await creating).toMatchObject({ code: 'SERVER_STOPPING' })
    expect(house.tools.running).toBe(0)
  })
})

describe('opening a session', () => {
  test('an unknown session fails, and leaves nothing behind', async () => {
    const house = new House()
    await expect(house.sessions.open('s-9', here)).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' })
    expect(house.tools.running).toBe(0)
  })

  test('twice at once makes one live session', async () => {
    const { house, session } = await working()
    const next = new House(house.disk)
    const [one, two] = await Promise.all([next.sessions.open(session.id, here), next.sessions.open(session.id, here)])
    expect(one).toBe(two)
    expect(next.tools.running).toBe(1)
  })

  test('with a wrong cwd is refused, and a concurrent one with the right cwd is not', async () => {
    const { house, session } = await working()
    const next = new House(house.disk)
    const opened = await Promise.allSettled([
      next.sessions.open(session.id, { ...here, cwd: '/elsewhere' }),
      next.sessions.open(session.id, here),
      next.sessions.open(session.id, here),
    ])
    expect(opened).toMatchObject([
      { status: 'rejected', reason: { code: 'SESSION_CWD_DIFFERS' } },
      { status: 'fulfilled' },
      { status: 'fulfilled' },
    ])
    expect(next.tools.running).toBe(1)
  })

  test.each(['full', 'unwritable'] as const)(
    'on a disk that is %s works for reading, even if settings would have to be stored',
    async (trouble) => {
      const { house, session } = await working()
      const next = new House(house.disk)
      next.agent.commands = [{ name: 'new', description: 'Something that it did not offer before.' }]
      house.disk.trouble = trouble
      const elsewhere = { ...here, additionalDirectories: ['/more'] }
      const opened = await next.sessions.open(session.id, elsewhere)
      const again = await next.sessions.open(session.id, { ...elsewhere, additionalDirectories: ['/other'] })
      expect(again).toBe(opened)
      const reader = await next.join(opened)
      expect(reader.entries).toEqual(await house.disk.entries(session.id))
      house.disk.trouble = 'none'
      await next.clock.advance(1_500)
      await next.sessions.open(session.id, elsewhere)
      expect(opened.existing).toMatchObject({ phase: 'idle', additionalDirectories: ['/more'] })
      await prompted(opened, 'p2')
      expect(opened.existing.commands).toEqual(next.agent.commands)
    },
  )

  test('on a full disk with another agent is refused, for the change of agent cannot be stored', async () => {
    const { house, session } = await working()
    const next = new House(house.disk)
    next.agents.named('other')
    house.disk.trouble = 'full'
    await expect(next.sessions.open(session.id, { ...here, agent: 'other' })).rejects.toMatchObject({
      code: 'JOURNAL_FULL',
    })
    expect(next.tools.running).toBe(0)
  })

  test('on a full disk after a crash: the session can be read, and its turn is ended as soon as there is room', async () => {
    const { house, session } = await working()
    const next = new House(house.disk)
    house.disk.trouble = 'full'
    const opened = await next.sessions.open(session.id, here)
    expect(opened.state.phase).toBe('working')
    await expect(opened.prompt('p2', [text('and?')])).rejects.toMatchObject({ code: 'JOURNAL_FULL' })
    house.disk.trouble = 'none'
    await next.clock.advance(1_000)
    await quiet()
    expect(opened.existing).toMatchObject({
      phase: 'idle',
      recentPrompts: [{ promptId: 'p1', stopReason: 'interrupted' }],
    })
  })

  test('again with the same servers starts none of them anew', async () => {
    const house = new House()
    const { session } = await house.open()
    const begun = house.tools.opened.length
    await house.sessions.open(session.id, { ...here, sessionId: session.id, _meta: {} } as typeof here)
    expect(house.tools.opened).toHaveLength(begun)
  })

  test('before recovery ends a turn that a crash interrupted first', async () => {
    const { house, session } = await working()
    const opened = await new House(house.disk).sessions.open(session.id, here)
    expect(opened.existing).toMatchObject({
      phase: 'idle',
      recentPrompts: [{ promptId: 'p1', stopReason: 'interrupted' }],
    })
  })
})

describe('joining a live session', () => {
  const server = (name: string) => ({ type: 'stdio', name, command: name, args: [], env: {} }) as const

  test('without MCP servers keeps those of the other clients', async () => {
    const house = new House()
    const session = await house.sessions.create({ ...here, mcpServers: [server('docs')] })
    await house.sessions.open(session.id, here)
    expect(house.tools.opened).toHaveLength(1)
  })

  test('with another MCP server adds it; the running turn keeps its tools until it ends', async () => {
    const house = new House()
    house.agent.script = untilCancelled
    const session = await house.sessions.create({ ...here, mcpServers: [server('docs')] })
    await prompted(session, 'p1')
    await house.sessions.open(session.id, { ...here, mcpServers: [server('files')] })
    expect(house.tools.opened.at(-1)?.servers).toEqual([server('docs'), server('files')])
    expect(house.tools.running).toBe(2)
    await session.dispatch({ kind: 'cancel', queued: [] })
    await quiet()
    expect(house.tools.running).toBe(1)
    await house.sessions.close(session.id)
    expect(house.tools.running).toBe(0)
  })
})

describe('unloading a session', () => {
  test('waits for the answer to a request that ends with its agent’s process', async () => {
    const { house, session, reader } = await working(async (turn) => {
      await turn.ask({ toolCallId: 'c1', patch: { title: 'x' }, options, state: null, survives: false })
      return 'end_turn'
    })
    await quiet()
    const given: string[] = []
    const give = async () => void given.push(session.id)
    expect(house.sessions.mayUnload(session.id)).toBe(false)
    expect(await house.sessions.unload(session.id, give)).toBe(false)
    const [question] = openQuestions(session.state)
    const rested = house.sessions.untilRested(session.id)
    await session.dispatch(answer(question?.requestId ?? '', null))
    await rested
    expect(reader.kinds.at(-1)).toBe('turn_ended')
    expect(given).toEqual([])
    expect(await house.sessions.unload(session.id, give)).toBe(true)
    expect(given).toEqual([session.id])
    expect(house.sessions.inMemory()).toEqual([])
  })

  test('releases the session before it can be opened again', async () => {
    const { house, session } = await waiting()
    let openedWhen = 'never'
    let isGiven = false
    const unloaded = house.sessions.unload(session.id, async () => {
      await quiet()
      isGiven = true
    })
    const opening = house.sessions.open(session.id, here).then(() => (openedWhen = isGiven ? 'after' : 'before'))
    expect(await unloaded).toBe(true)
    await opening
    expect(openedWhen).toBe('after')
  })
})

describe('closing a session', () => {
  test('cancels the running turn, then closes', async () => {
    const { house, session, reader } = await working()
    await house.sessions.close(session.id)
    expect(reader.kinds.slice(-3)).toEqual(['turn_cancel_requested', 'turn_ended', 'session_closed'])
    expect(house.tools.running).toBe(0)
  })

  test('withdraws an open permission request', async () => {
    const { house, session, reader } = await waiting()
    await house.sessions.close(session.id)
    expect(reader.kinds.slice(-5)).toEqual([
      'permission_resolved',
      'turn_cancel_requested',
      'tool_call_patched',
      'turn_ended',
      'session_closed',
    ])
  })

  test('gives each queued prompt one end, and accepts no more', async () => {
    const { house, session, reader } = await working(deaf)
    const waits = session.prompt('p2', [text('x')])
    const closed = house.sessions.close(session.id)
    await waits
    await expect(session.dispatch(prompt('p3', 'x'))).rejects.toMatchObject({ code: 'SESSION_CLOSED' })
    await house.clock.advance(10_000)
    await closed
    const { accepted, ends } = account(reader.entries)
    expect(accepted.map((promptId) => ends(promptId))).toEqual([1, 1])
    await expect(session.dispatch(prompt('p4', 'x'))).rejects.toMatchObject({ code: 'SESSION_CLOSED' })
  })

  test('while it is being opened never makes two writers', async () => {
    const { house, session } = await working(deaf)
    const closed = house.sessions.close(session.id)
    const opening = house.sessions.open(session.id, here)
    await house.clock.advance(10_000)
    await closed
    const opened = await opening
    expect(opened).not.toBe(session)
    await prompted(opened, 'p2')
    expect(opened.state.phase).toBe('working')
    expect(house.tools.running).toBe(1)
  })

  test('on a full disk fails, and can be tried again', async () => {
    const { house, session } = await working()
    house.disk.trouble = 'full'
    await expect(house.sessions.close(session.id)).rejects.toMatchObject({ code: 'JOURNAL_FULL' })
    house.disk.trouble = 'none'
    await house.clock.advance(5_000)
    await house.sessions.close(session.id)
    expect(session.state.phase).toBe('closed')
  })

  test('an unknown session fails; one that is not open is already closed', async () => {
    const { house, session } = await working()
    await expect(house.sessions.close('s-9')).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' })
    await expect(new House(house.disk).sessions.close(session.id)).resolves.toBeUndefined()
  })
})

describe('deleting a session', () => {
  test('with a running turn removes it, and opening it at the same time finds nothing', async () => {
    const { house, session } = await working()
    const deleted = house.sessions.delete(session.id)
    const opening = house.sessions.open(session.id, here)
    await deleted
    await expect(opening).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' })
    expect(await house.disk.entries(session.id)).toEqual([])
    expect(house.tools.running).toBe(0)
    await house.clock.advance(10_000)
    expect(await house.disk.entries(session.id)).toEqual([])
  })

  test('works on a full disk, to make room', async () => {
    const { house, session } = await working()
    house.disk.trouble = 'full'
    await house.sessions.delete(session.id)
    expect(await house.sessions.list({ limit: 10 })).toEqual([])
    expect(house.tools.running).toBe(0)
  })

  test('an unknown session succeeds', async () => {
    await expect(new House().sessions.delete('s-9')).resolves.toBeUndefined()
  })
})

describe('stopping all sessions', () => {
  test('interrupts running turns and suspends waiting ones; nothing is stored after it', async () => {
    const { house, session } = await working()
    await session.prompt('p2', [text('x')])
    const other = await house.open()
    house.agent.script = async (turn) => {
      await turn.ask({ toolCallId: 'c1', patch: { title: 'x' }, options, state: null })
      await turn.say(text('and on'))
      return 'end_turn'
    }
    await prompted(other.session, 'q1')
    await house.sessions.halt()
    expect(session.existing).toMatchObject({ phase: 'idle' })
    expect(other.session.state.phase).toBe('suspended')
    const stored = [house.disk.stored(session.id), house.disk.stored(other.session.id)]
    await expect(session.dispatch(prompt('p3', 'x'))).rejects.toMatchObject({ code: 'SESSION_CLOSED' })
    await house.clock.advance(10_000)
    expect([house.disk.stored(session.id), house.disk.stored(other.session.id)]).toEqual(stored)
    expect(house.tools.running).toBe(0)
  })

  test('together with a prompt ends that prompt, and no agent runs', async () => {
    const house = new House()
    const { session, reader } = await house.open()
    const prompted = session.prompt('p1', [text('x')])
    await Promise.all([prompted, house.sessions.halt()])
    expect(account(reader.entries).ends('p1')).toBe(1)
    expect(house.agent.turns).toEqual([])
  })

  test('while an append is in flight stores that first', async () => {
    const { house, session, reader } = await working(deaf)
    house.disk.hold()
    const accepted = session.prompt('p2', [text('x')])
    await quiet()
    const halted = house.sessions.halt()
    house.disk.release()
    await Promise.all([accepted, halted])
    expect(reader.kinds.slice(-3)).toEqual(['prompt_accepted', 'prompt_withdrawn', 'turn_ended'])
  })

  test('on a slow disk opens no session again before its writer has stopped: a turn that only waited is suspended', async () => {
    const { house, session, reader } = await waiting()
    house.disk.hold()
    const halted = house.sessions.halt()
    const opening = house.sessions.open(session.id, here)
    const others = [
      house.sessions.create(here),
      house.sessions.fork(session.id),
      house.sessions.rename(session.id, 'x'),
      house.sessions.close(session.id),
      house.sessions.delete(session.id),
      house.sessions.halt(),
    ]
    const outcomes = Promise.allSettled([opening, ...others])
    await quiet()
    house.disk.release()
    await halted
    const refused = { status: 'rejected', reason: { code: 'SERVER_STOPPING' } }
    expect(await outcomes).toMatchObject([...Array.from({ length: 6 }, () => refused), { status: 'fulfilled' }])
    expect(house.reported).toEqual([])
    expect(reader.kinds.at(-1)).toBe('turn_suspended')
    expect(house.disk.stored(session.id)).toBe(reader.entries.length)
    expect(house.tools.running).toBe(0)
  })

  test('on a full disk still ends every MCP server, and leaves the turns to recovery', async () => {
    const { house, session } = await working(deaf)
    house.disk.trouble = 'full'
    await house.sessions.halt()
    expect(house.reported).toMatchObject([{ code: 'JOURNAL_FULL' }])
    expect(house.tools.running).toBe(0)
    house.disk.trouble = 'none'
    const next = await house.killed(session)
    expect(next.reader.entries.at(-1)).toMatchObject({ kind: 'turn_ended', stopReason: 'interrupted' })
  })
})

describe('a load that hangs', () => {
  test('blocks neither the status of the server nor its stop, and leaves nothing behind when it returns', async () => {
    const { house, session } = await working()
    const next = new House(house.disk)
    house.disk.hold()
    const opening = next.sessions.open(session.id, here).catch((error: unknown) => error)
    await quiet()
    expect(next.sessions.counts()).toMatchObject({ sessions: 0, working: 0 })

    const halted = next.sessions.halt()
    await next.clock.advance(5_000)
    await halted
    house.disk.release()
    expect(await opening).toMatchObject({ code: 'SERVER_STOPPING' })
    expect(next.tools.running).toBe(0)
  })
})

describe('recovery', () => {
  test('ends interrupted turns once', async () => {
    const { house, session } = await waiting()
    const other = await house.open()
    house.agent.script = deaf
    await prompted(other.session, 'q1')
    const next = new House(house.disk)
    expect(await next.sessions.recover()).toBe(2)
    expect(await new House(house.disk).sessions.recover()).toBe(0)
    const rows = await next.sessions.list({ limit: 10 })
    expect(new Map(rows.map(({ id, phase }) => [id, phase]))).toEqual(
      new Map([
        [session.id, 'suspended'],
        [other.session.id, 'idle'],
      ]),
    )
    expect(next.tools.running).toBe(0)
  })

  test('starts neither agents nor MCP servers', async () => {
    const { house, session } = await working()
    const next = new House(house.disk)
    next.agents.takeAway('puppet')
    next.tools.open = () => {
      throw new Error('a server would start')
    }
    await next.sessions.recover()
    expect(next.reported).toEqual([])
    expect((await house.disk.entries(session.id)).at(-1)).toMatchObject({
      kind: 'turn_ended',
      stopReason: 'interrupted',
    })
  })

  test('continues with the other sessions when one cannot be recovered', async () => {
    const { house, session } = await working()
    await house.disk.append(damagedSession(house))
    const next = new House(house.disk)
    await next.sessions.recover()
    expect(next.reported).toMatchObject([{ code: 'JOURNAL_CORRUPT' }])
    const opened = await next.sessions.open(session.id, here)
    expect(opened.existing.phase).toBe('idle')
  })

  test('resumes a suspended turn once when its request is answered twice', async () => {
    const { house, session } = await waiting()
    const next = await house.killed(session)
    const { state } = next.session
    const requestId = openQuestions(state)[0]?.requestId ?? ''
    const answers = [
      next.session.dispatch(answer(requestId, 'allow_once')),
      next.session.dispatch(answer(requestId, 'allow_once')),
    ]
    expect((await Promise.allSettled(answers)).map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
    await quiet()
    expect(next.house.agent.turns).toHaveLength(1)
  })
})

/** Its first entry is not its creation. */
function damagedSession(house: House) {
  const at = house.clock.now()
  const body = JSON.stringify({ kind: 'turn_started', turnId: 't1', promptId: 'p1' })
  const row = { ...here, id: 's-damaged', agent: 'puppet', title: null, phase: 'working', lastSeq: 1 } as const
  return { row: { ...row, createdAt: at, updatedAt: at }, entries: [{ seq: 1, at, body }], expected: 0 }
}
