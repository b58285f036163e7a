/** What the agent of every session promises (`src/ports/agent.ts`), as one suite for all adapters. */
import { beforeEach, expect, test } from 'vitest'
import type { Agent, AgentSession, Agents } from '../../src/ports/agent.ts'
import { SessionRegistry } from '../../src/session/session-registry.ts'
import type { Session } from '../../src/session/session.ts'
import { account } from '../sim/account.ts'
import { quiet } from '../sim/clock.ts'
import { House, here } from '../sim/house.ts'
import { text } from '../sim/words.ts'

export interface AgentBench {
  readonly agents: Agents
  /** The full name of the agent under test. It says something to every prompt. */
  readonly name: string
  /** Another agent that can be opened. */
  readonly other: string
  /** The directory of the sessions; absent for agents that do not look whether it exists. */
  readonly cwd?: string
}

/** One agent that was opened, with the session that opened it. */
interface Opened {
  readonly name: string
  readonly agent: Agent
  readonly session: AgentSession
  closed: number
}

export function agentContract(open: (house: House) => Promise<AgentBench>): void {
  let house: House
  let name: string
  let other: string
  let agents: Agents
  let opened: Opened[]
  let sessions: SessionRegistry
  let place: typeof here

  beforeEach(async () => {
    house = new House()
    opened = []
    const bench = await open(house)
    ;({ name, other } = bench)
    place = { ...here, cwd: bench.cwd ?? here.cwd }
    agents = recorded(bench.agents, opened)
    sessions = ownerOf(house, agents)
  })

  async function prompted(session: Session, promptId: string): Promise<string> {
    const before = session.state.seq
    await session.prompt(promptId, [text('/help')])
    await expect.poll(() => session.state.phase).toBe('idle')
    const entries = await house.disk.entries(session.id)
    expect(account(entries).ends(promptId)).toBe(1)
    return entries.flatMap((entry) => saidIn(entry, before)).join('')
  }

  test('answers the prompts of its session, and is opened once for all of them', async () => {
    const session = await sessions.create({ ...place, agent: name })
    expect(await prompted(session, 'p1')).not.toBe('')
    expect(await prompted(session, 'p2')).not.toBe('')
    expect(opened).toHaveLength(1)
  })

  test('sees the session that it is opened for', async () => {
    const server = { type: 'stdio', name: 'docs', command: 'docs', args: [], env: {} } as const
    const session = await sessions.create({
      ...place,
      additionalDirectories: ['/srv'],
      mcpServers: [server],
      agent: name,
      variables: { KEY: 'k' },
    })
    expect(opened[0]?.session).toMatchObject({
      id: session.id,
      cwd: place.cwd,
      roots: [place.cwd, '/srv'],
      mcpServers: [server],
      variables: { KEY: 'k' },
    })
    await sessions.open(session.id, { ...place, mcpServers: [] })
    expect(opened[0]?.session.roots).toEqual([place.cwd])
  })

  test('offers JSON, and the current mode is one of its modes', async () => {
    const session = await sessions.create({ ...place, agent: name })
    const { capabilities } = opened[0]?.agent ?? {}
    expect(JSON.parse(JSON.stringify(capabilities))).toEqual(capabilities)
    const { modes } = session.existing.settings
    if (modes !== null) expect(modes.availableModes.map(({ id }) => id)).toContain(modes.currentModeId)
    expect(session.existing.commands).toEqual(capabilities?.commands)
  })

  test('is closed when its session is closed, unloaded or deleted', async () => {
    const closed = await sessions.create({ ...place, agent: name })
    const unloaded = await sessions.create({ ...place, agent: name })
    const deleted = await sessions.create({ ...place, agent: name })
    await sessions.close(closed.id)
    await sessions.delete(deleted.id)
    // No client has attached to it.
    await house.clock.advance(120_000)
    await quiet()
    expect(unloaded.closed.aborted).toBe(true)
    expect(opened.map((one) => one.closed)).toEqual([1, 1, 1])
  })

  test('is closed when its session has another agent, and can be closed twice', async () => {
    const session = await sessions.create({ ...place, agent: name })
    await sessions.open(session.id, { ...place, agent: other })
    expect(opened.map((one) => [one.name, one.closed])).toEqual([
      [name, 1],
      [other, 0],
    ])
    await opened[0]?.agent.close()
  })

  test('takes what a client sets between its turns', async () => {
    const session = await sessions.create({ ...place, agent: name })
    const { modes, configOptions } = session.existing.settings
    for (const { id } of modes?.availableModes ?? []) await session.dispatch({ kind: 'set_mode', modeId: id })
    for (const { id, currentValue } of configOptions)
      await session.dispatch({ kind: 'set_config_option', configId: id, value: currentValue })
    expect(await prompted(session, 'p1')).not.toBe('')
  })

  test('ends a turn that is cancelled', async () => {
    const session = await sessions.create({ ...place, agent: name })
    await session.prompt('p1', [text('/help')])
    await session.dispatch({ kind: 'cancel', queued: [] })
    await house.clock.advance(5_000)
    await expect.poll(() => session.state.phase).toBe('idle')
  })

  test('can be checked without being opened', async () => {
    await agents.check(name)
    await expect(agents.check('no such agent')).rejects.toMatchObject({ code: 'AGENT_UNKNOWN' })
    expect(opened).toEqual([])
  })
}

function ownerOf({ disk, clock, tools, rules, reported }: House, agents: Agents): SessionRegistry {
  const faults = { at: async () => undefined }
  return new SessionRegistry({
    journal: disk,
    clock,
    faults,
    agents,
    tools,
    rules,
    report: (error) => void reported.push(error),
  })
}

/** The same agents; writes down what is opened and closed. */
function recorded(agents: Agents, opened: Opened[]): Agents {
  return {
    default: agents.default,
    resolveAgentName: (requested, at) => agents.resolveAgentName(requested, at),
    check: (name) => agents.check(name),
    accepts: (name, variables) => agents.accepts(name, variables),
    async open(name, session) {
      const agent = await agents.open(name, session)
      const record: Opened = { name, agent, session, closed: 0 }
      opened.push(record)
      return {
        get capabilities() {
          return agent.capabilities
        },
        ...(agent.commandsFor && { commandsFor: agent.commandsFor }),
        ...(agent.setMode && { setMode: async (id) => agent.setMode?.(id) }),
        ...(agent.setConfigOption && { setConfigOption: async (id, value) => agent.setConfigOption?.(id, value) }),
        run: (turn) => agent.run(turn),
        async close() {
          record.closed += 1
          await agent.close()
        },
      }
    },
  }
}

function saidIn(entry: { readonly kind: string; readonly seq: number }, after: number): readonly string[] {
  const { role, content } = entry as { readonly role?: string; readonly content?: { readonly text?: string } }
  return entry.kind === 'message_chunk' && entry.seq > after && role === 'agent' ? [content?.text ?? ''] : []
}
