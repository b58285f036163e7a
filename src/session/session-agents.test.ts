/** Each session has an agent of its own, and may be given another one. */
import { describe, expect, test } from 'vitest'
import type { AgentSession } from '../ports/agent.ts'
import { quiet } from '../../test/sim/clock.ts'
import { House, here, prompted } from '../../test/sim/house.ts'
import { type Puppet, untilCancelled } from '../../test/sim/puppet.ts'
import { options, text } from '../../test/sim/words.ts'

function says(agent: Puppet, words: string): void {
  agent.script = async (turn) => {
    await turn.say(text(words))
    return 'end_turn'
  }
  agent.commands = [{ name: words, description: words }]
}

/** A house with two agents besides the one that it came with. */
function houseOfThree(house = new House()) {
  says(house.agents.named('script:/first'), 'first')
  says(house.agents.named('script:/second'), 'second')
  return house
}

const naming = (agent: string) => ({ ...here, agent })

describe('the agent of a session', () => {
  test('is the one that the session was created with', async () => {
    const house = houseOfThree()
    const one = await house.sessions.create(naming('script:/first'))
    const two = await house.sessions.create(naming('script:/second'))
    const readers = [await house.join(one), await house.join(two)]
    await Promise.all([prompted(one, 'p1'), prompted(two, 'p1')])
    expect(readers.map((reader) => reader.text)).toEqual(['first', 'second'])
    expect([one, two].map(({ existing }) => existing.commands)).toMatchObject([
      [{ name: 'first' }],
      [{ name: 'second' }],
    ])
    expect(await house.sessions.find(one.id)).toMatchObject({ agent: 'script' })
  })

  test('is the default where none is named', async () => {
    const { session, reader } = await houseOfThree().open()
    await prompted(session, 'p1')
    expect(session.existing.agent).toBe('puppet')
    expect(reader.text).toBe('Hello!')
  })

  test('unknown: the session is not created', async () => {
    const house = houseOfThree()
    await expect(house.sessions.create(naming('script:/nowhere'))).rejects.toMatchObject({ code: 'AGENT_UNKNOWN' })
    expect(await house.sessions.list({ limit: 9 })).toEqual([])
    expect(house.tools.running).toBe(0)
  })

  test('stays when the session is opened again without naming one', async () => {
    const house = houseOfThree()
    const { id } = await house.sessions.create(naming('script:/first'))
    const next = houseOfThree(new House(house.disk))
    const session = await next.sessions.open(id, here)
    const reader = await next.join(session)
    await prompted(session, 'p1')
    expect(reader.text).toBe('first')
  })

  test.each(['live', 'cold'])(
    'changes with the next turn when a session that is %s is opened with another one',
    async (how) => {
      const house = houseOfThree()
      const { id } = await house.sessions.create(naming('script:/first'))
      const owner = how === 'live' ? house : houseOfThree(new House(house.disk))
      const session = await owner.sessions.open(id, naming('script:/second'))
      const reader = await owner.join(session)
      await prompted(session, 'p1')
      expect(reader.text).toBe('second')
      expect(session.existing).toMatchObject({ agent: 'script:/second', commands: [{ name: 'second' }] })
    },
  )

  test('stays for the running turn; the next prompt has the other', async () => {
    const house = houseOfThree()
    const first = house.agents.named('script:/first')
    first.script = async (turn) => {
      await turn.say(text('first, '))
      return untilCancelled(turn)
    }
    const session = await house.sessions.create(naming('script:/first'))
    const reader = await house.join(session)
    await prompted(session, 'p1')
    await session.prompt('p2', [text('and?')])
    await house.sessions.open(session.id, naming('script:/second'))
    expect(session.state).toMatchObject({ phase: 'working', turn: { agent: 'script:/first' } })
    await session.dispatch({ kind: 'cancel', queued: [] })
    await quiet()
    expect(reader.text).toBe('first, second')
  })

  test('stays for a turn that waits for an answer, although the session has another by then', async () => {
    const house = houseOfThree()
    house.agents.named('script:/first').script = async (turn) => {
      await turn.ask({ toolCallId: 'c1', patch: { title: 'x' }, options, state: null })
      return 'end_turn'
    }
    const asking = await house.sessions.create(naming('script:/first'))
    const { id } = asking
    await prompted(asking, 'p1')
    const next = houseOfThree(new House(house.disk))
    await next.sessions.recover()
    const session = await next.sessions.open(id, naming('script:/second'))
    const { state } = session
    if (state.phase !== 'suspended') throw new Error('it must be suspended')
    await session.dispatch({ kind: 'answer', requestId: state.questions[0]?.requestId ?? '', optionId: 'allow_once' })
    await quiet()
    expect(next.agents.named('script:/first').turns).toHaveLength(1)
    expect(next.agents.named('script:/second').turns).toEqual([])
    await prompted(session, 'p2')
    expect(next.agents.named('script:/second').turns).toHaveLength(1)
  })
})

describe('an agent that the user left before its conversation was open', () => {
  const record = {
    generation: 1,
    version: '1.0.0',
    how: 'new',
    caps: ['load'],
    cwd: here.cwd,
    roots: [here.cwd],
    upTo: 1,
  } as const
  const conversation = (agent: string) => ({ ...record, agent, agentSessionId: `of ${agent}` })

  async function left() {
    const house = houseOfThree()
    const views: AgentSession[] = []
    house.agents.named('script:/first').opened = (view) => void view.remember(conversation('script:/first'))
    house.agents.named('script:/first').script = untilCancelled
    house.agents.named('script:/second').opened = (view) => void views.push(view)
    const session = await house.sessions.create(naming('script:/first'))
    await house.sessions.open(session.id, naming('script:/second'))
    await house.sessions.open(session.id, naming('script:/first'))
    return { house, session, view: views[0] ?? expect.unreachable() }
  }

  test('does not replace what the agent in use remembers, in its turn or later', async () => {
    const { session, view } = await left()
    const late = view.remember(conversation('script:/second'))
    await prompted(session, 'p1')
    await late
    await session.dispatch({ kind: 'cancel', queued: [] })
    await quiet()
    expect(session.existing.agentSession).toMatchObject({ agentSessionId: 'of script:/first' })
  })

  test('is closed at once when the change to it is refused', async () => {
    const house = houseOfThree()
    const session = await house.sessions.create(naming('script:/first'))
    const server = { type: 'stdio', command: 'x', args: [], env: {} } as const
    const mcpServers = Array.from({ length: 101 }, (_, n) => ({ ...server, name: `s${n}` }))
    const opened = house.sessions.open(session.id, { ...naming('script:/second'), mcpServers })
    await expect(opened).rejects.toMatchObject({ code: 'SERVERS_TOO_MANY' })
    expect(house.agents.named('script:/second').sessions.size).toBe(0)
  })

  test('and chose again has the conversation of its new process', async () => {
    const { house, session, view } = await left()
    await house.sessions.open(session.id, naming('script:/second'))
    await view.remember(conversation('script:/second'))
    expect(session.existing.agentSession).toMatchObject({ agentSessionId: 'of script:/first' })
  })
})

describe('a session whose agent is no longer known', () => {
  async function left() {
    const house = houseOfThree()
    const { id } = await house.sessions.create(naming('script:/first'))
    const next = houseOfThree(new House(house.disk))
    next.agents.takeAway('script:/first')
    return { id, house: next }
  }

  test('can still be read; its next turn fails with one sentence', async () => {
    const { id, house } = await left()
    const session = await house.sessions.open(id, here)
    await prompted(session, 'p1')
    expect(session.existing).toMatchObject({
      phase: 'idle',
      commands: [{ name: 'first' }],
      recentPrompts: [{ promptId: 'p1', stopReason: 'error', error: { code: 'AGENT_UNKNOWN' } }],
    })
  })

  test('continues when it is opened with another agent', async () => {
    const { id, house } = await left()
    const session = await house.sessions.open(id, naming('script:/second'))
    const reader = await house.join(session)
    await prompted(session, 'p1')
    expect(reader.text).toBe('second')
  })

  test('can be opened with its own agent’s name, but not with another unknown name', async () => {
    const { id, house } = await left()
    await expect(house.sessions.open(id, naming('script:/third'))).rejects.toMatchObject({ code: 'AGENT_UNKNOWN' })
    expect(house.tools.running).toBe(0)
    const session = await house.sessions.open(id, naming('script:/first'))
    expect(session.existing.agent).toBe('script:/first')
    await expect(house.sessions.open(id, naming('script:/third'))).rejects.toMatchObject({ code: 'AGENT_UNKNOWN' })
    expect(session.existing.agent).toBe('script:/first')
  })
})

describe('an agent outside a turn', () => {
  async function opened() {
    const house = new House()
    const { session, reader } = await house.open()
    await prompted(session, 'p1')
    const [agent] = house.agent.sessions
    if (agent === undefined) throw new Error('the agent is not open')
    return { house, session, reader, agent }
  }

  test('may send text after the end of its turn, as a message of its own', async () => {
    const { reader, agent } = await opened()
    await agent.update({ kind: 'chunk', role: 'agent', content: text('One ') })
    await agent.update({ kind: 'chunk', role: 'agent', content: text('more.') })
    await quiet()
    expect(reader.entries.slice(-3)).toMatchObject([
      { kind: 'turn_ended' },
      { kind: 'message_chunk', messageId: 't1-late', content: text('One ') },
      { kind: 'message_chunk', messageId: 't1-late', content: text('more.') },
    ])
  })

  test('may send title, usage, commands and mode', async () => {
    const { house, session, agent } = await opened()
    const usage = { used: 10, size: 100 }
    const commands = [{ name: 'review', description: 'Reviews' }]
    house.agent.modes = { currentModeId: 'slow', availableModes: ['slow', 'fast'].map((id) => ({ id, name: id })) }
    await agent.capabilitiesChanged()
    await agent.update({ kind: 'title', title: 'A walk in the park' })
    await agent.update({ kind: 'usage', usage })
    await agent.update({ kind: 'commands', commands })
    await agent.update({ kind: 'mode', modeId: 'fast' })
    await agent.update({ kind: 'mode', modeId: 'no such mode' })
    await quiet()
    expect(session.existing).toMatchObject({
      title: 'A walk in the park',
      usage,
      commands,
      settings: { modes: { currentModeId: 'fast' } },
    })
  })

  test('has what it offers compared with what is stored when that changes, and not with every turn', async () => {
    let compared = 0
    const review = { name: 'review', description: 'Reviews' }
    const counting = { ...review, toJSON: () => ((compared += 1), review) }
    const house = new House()
    house.agent.capabilities = {
      commands: [counting],
      settings: { modes: null, configOptions: [] },
      isCurrent: true,
    }
    const { session } = await house.open()
    await prompted(session, 'p1')
    const before: number[] = []
    house.agent.script = async () => {
      before.push(compared)
      return 'end_turn'
    }
    const prompt = async (id: string): Promise<void> => {
      compared = 0
      await prompted(session, id)
    }
    await prompt('p2')
    await prompt('p3')
    expect(before.at(-1)).toBe(0)
    house.agent.capabilities = { ...house.agent.capabilities, commands: [counting, review] }
    await prompt('p4')
    expect(before.at(-1)).toBeGreaterThan(0)
    expect(session.existing.commands).toHaveLength(2)
  })

  test('has updates that Parley has no entry for stored as they are, in a turn and outside of one', async () => {
    const { house, session, reader, agent } = await opened()
    const foreign = (words: string) => ({ protocol: 'acp/v1', update: { sessionUpdate: '_x/status', words } })
    house.agent.script = async (turn) => {
      const { protocol, update } = foreign('in')
      await turn.foreign(protocol, update)
      return 'end_turn'
    }
    await agent.update({ kind: 'foreign', ...foreign('outside') })
    await prompted(session, 'p2')
    expect(reader.entries.filter(({ kind }) => kind === 'foreign')).toMatchObject([foreign('outside'), foreign('in')])
  })

  test('is ignored once its session has another agent or is closed', async () => {
    const { house, session, agent } = await opened()
    houseOfThree(house)
    await house.sessions.open(session.id, naming('script:/first'))
    await agent.update({ kind: 'title', title: 'Too late' })
    await agent.capabilitiesChanged()
    await quiet()
    expect(session.existing).toMatchObject({ title: 'Hello', commands: [{ name: 'first' }] })
    const [first] = house.agents.named('script:/first').sessions
    await house.sessions.close(session.id)
    const before = house.disk.stored(session.id)
    await first?.update({ kind: 'title', title: 'Too late' })
    await quiet()
    expect(house.disk.stored(session.id)).toBe(before)
  })

  test('gets a setting before it is stored, and may refuse it', async () => {
    const heard: unknown[] = []
    const house = new House()
    house.agent.modes = { currentModeId: 'slow', availableModes: ['slow', 'fast'].map((id) => ({ id, name: id })) }
    house.agent.configOptions = [{ id: 'loud', name: 'Loud', type: 'boolean', currentValue: false }]
    house.agent.applies = async (id, value) => {
      heard.push([id, value])
      if (value === true) throw new Error('not now')
    }
    const { session } = await house.open()
    await session.dispatch({ kind: 'set_mode', modeId: 'fast' })
    const refused = session.dispatch({ kind: 'set_config_option', configId: 'loud', value: true })
    await expect(refused).rejects.toThrow('not now')
    await expect(session.dispatch({ kind: 'set_mode', modeId: 'none' })).rejects.toMatchObject({ code: 'MODE_UNKNOWN' })
    expect(heard).toEqual([
      ['mode', 'fast'],
      ['loud', true],
    ])
    expect(session.existing.settings).toMatchObject({
      modes: { currentModeId: 'fast' },
      configOptions: [{ currentValue: false }],
    })
  })
})
