/** Each session has an agent of its own, and may be given another one. */
import { describe, expect, test } from 'vitest'
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

describe('a session', () => {
  test('is answered by the agent that it was created with, whatever others have', async () => {
    const house = houseOfThree()
    const one = await house.sessions.create(naming('script:/first'))
    const two = await house.sessions.create(naming('script:/second'))
    const readers = [await house.join(one), await house.join(two)]
    await Promise.all([prompted(one, 'p1'), prompted(two, 'p1')])
    expect(readers.map((reader) => reader.text)).toEqual(['first', 'second'])
    expect([one, two].map(({ requireCreated: existing }) => existing.commands)).toMatchObject([
      [{ name: 'first' }],
      [{ name: 'second' }],
    ])
    expect(await house.sessions.find(one.id)).toMatchObject({ agent: 'script' })
  })

  test('has the default where nobody named an agent', async () => {
    const { session, reader } = await houseOfThree().open()
    await prompted(session, 'p1')
    expect(session.requireCreated.agent).toBe('puppet')
    expect(reader.text).toBe('Hello!')
  })

  test('of an agent that there is not is not created', async () => {
    const house = houseOfThree()
    await expect(house.sessions.create(naming('script:/nowhere'))).rejects.toMatchObject({ code: 'AGENT_UNKNOWN' })
    expect(await house.sessions.list({ limit: 9 })).toEqual([])
    expect(house.tools.running).toBe(0)
  })

  test('keeps its agent when it is opened again without one', async () => {
    const house = houseOfThree()
    const { id } = await house.sessions.create(naming('script:/first'))
    const next = houseOfThree(new House(house.disk))
    const session = await next.sessions.open(id, here)
    const reader = await next.join(session)
    await prompted(session, 'p1')
    expect(reader.text).toBe('first')
  })

  test.each(['live', 'cold'])('that is %s and opened with another agent has it from the next turn on', async (how) => {
    const house = houseOfThree()
    const { id } = await house.sessions.create(naming('script:/first'))
    const owner = how === 'live' ? house : houseOfThree(new House(house.disk))
    const session = await owner.sessions.open(id, naming('script:/second'))
    const reader = await owner.join(session)
    await prompted(session, 'p1')
    expect(reader.text).toBe('second')
    expect(session.requireCreated).toMatchObject({ agent: 'script:/second', commands: [{ name: 'second' }] })
  })

  test('that is at work goes on with the agent that it began with; the next prompt has the other', async () => {
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

  test('whose turn waits for an answer goes on with the agent that asked, though it has another by then', async () => {
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
    await session.dispatch({ kind: 'answer', requestId: state.question?.requestId ?? '', optionId: 'allow_once' })
    await quiet()
    expect(next.agents.named('script:/first').turns).toHaveLength(1)
    expect(next.agents.named('script:/second').turns).toEqual([])
    await prompted(session, 'p2')
    expect(next.agents.named('script:/second').turns).toHaveLength(1)
  })
})

describe('a session whose agent has gone', () => {
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
    expect(session.requireCreated).toMatchObject({
      phase: 'idle',
      commands: [{ name: 'first' }],
      recentPrompts: [{ promptId: 'p1', stopReason: 'error', error: { code: 'AGENT_UNKNOWN' } }],
    })
  })

  test('goes on when somebody names another', async () => {
    const { id, house } = await left()
    const session = await house.sessions.open(id, naming('script:/second'))
    const reader = await house.join(session)
    await prompted(session, 'p1')
    expect(reader.text).toBe('second')
  })

  test('can be read by whoever names the one that it has, but not be given another that is not there', async () => {
    const { id, house } = await left()
    await expect(house.sessions.open(id, naming('script:/third'))).rejects.toMatchObject({ code: 'AGENT_UNKNOWN' })
    expect(house.tools.running).toBe(0)
    const session = await house.sessions.open(id, naming('script:/first'))
    expect(session.requireCreated.agent).toBe('script:/first')
    await expect(house.sessions.open(id, naming('script:/third'))).rejects.toMatchObject({ code: 'AGENT_UNKNOWN' })
    expect(session.requireCreated.agent).toBe('script:/first')
  })
})
