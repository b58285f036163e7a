/** What an agent reports beside its words, in its turns and between them, and the conversation that it remembers. */
/* oxlint-disable promise/valid-params -- the "then" of given, when, then is no promise's. */
import { describe, test } from 'vitest'
import type { AgentUpdate } from '../../ports/agent.ts'
import { given } from '../../../test/sim/given.ts'
import * as say from '../../../test/sim/words.ts'
import type { AgentEvent, Command } from './commands.ts'
import type { Body } from './entries.ts'

const { created, accepted, turnStarted, userSaid, ended } = say
const working = [created, accepted('p1', 'Hello'), turnStarted(1, 'p1'), userSaid(1, 'p1', 'Hello')]
const idle = [...working, ended(1, 'p1', 'end_turn')]

describe('what an agent reports beside its words', () => {
  const content = say.text('x')
  const list = [{ name: 'call', description: 'Runs a tool' }]
  const update = (update: AgentUpdate, turnId?: string): Command => ({
    kind: 'agent_update',
    agent: 'puppet',
    update,
    ...(turnId !== undefined && { turnId }),
  })
  const outside = { kind: 'message_chunk', messageId: 't1-outside2', content, origin: 'outside' } as const
  test.each<[AgentEvent, ...Body[]]>([
    [
      { kind: 'plan', entries: [] },
      { kind: 'plan', entries: [] },
    ],
    [
      { kind: 'checkpoint', data: 1 },
      { kind: 'agent_checkpoint', data: 1 },
    ],
    [
      { kind: 'checkpoint', data: 1, reset: true },
      { kind: 'agent_checkpoint', data: 1, reset: true },
    ],
    [
      { kind: 'elicitation', elicitationId: 'e1', mode: 'form' },
      { kind: 'elicitation_requested', elicitationId: 'e1', mode: 'form' },
    ],
    [
      { kind: 'elicited', elicitationId: 'e1', outcome: 'decline' },
      { kind: 'elicitation_resolved', elicitationId: 'e1', outcome: 'decline' },
    ],
    [
      { kind: 'outside_chunk', role: 'user', message: 2, content },
      { ...outside, role: 'user', promptId: 't1-outside2' },
    ],
    [
      { kind: 'outside_chunk', role: 'agent', message: 2, content },
      { ...outside, role: 'agent' },
    ],
    [
      { kind: 'usage', usage: { used: 5, size: 10 } },
      { kind: 'usage', usage: { used: 5, size: 10 } },
    ],
    [
      { kind: 'commands', commands: list },
      { kind: 'commands', commands: list, by: 'agent' },
    ],
    [
      { kind: 'foreign', protocol: 'acp/v1', update: 1 },
      { kind: 'foreign', protocol: 'acp/v1', update: 1 },
    ],
    [{ kind: 'flush' }],
  ])('%j becomes its entry', (event, ...entries) =>
    given(...working)
      .when(say.does(1, event))
      .then(...entries),
  )
  test('a message begins anew with each id of the agent, which its first part keeps', () => {
    const own = (messageId: string) => say.does(1, { kind: 'chunk', role: 'agent', content, messageId })
    const first = (messageId: string, agentMessageId: string): Body =>
      ({ ...say.agentSaid(messageId, 'x'), agentMessageId }) as Body
    const more = say.agentSaid('t1-m1', 'x')
    given(...working)
      .when(own('a'), own('a'), say.says(1, 'x'), own('b'))
      .then(first('t1-m1', 'a'), more, more, first('t1-m2', 'b'))
  })
  test('of a compaction is stored until it has ended', () => {
    const patched = (status: 'in_progress' | 'completed') =>
      ({ kind: 'compaction', compactionId: 'k1', patch: { status } }) as const
    const summary = { kind: 'compaction_summary', compactionId: 'k1', content } as const
    given(...working, patched('in_progress'))
      .when(say.does(1, summary), say.does(1, patched('completed')), say.does(1, patched('in_progress')))
      .then(summary, patched('completed'))
  })
  test('outside its turns is a part of the turn that runs', () =>
    given(...working)
      .when(update({ kind: 'chunk', role: 'agent', content }))
      .then(say.agentSaid('t1-m1', 'x')))
  test('after the end of its turn belongs to that turn, and a title to the session', () =>
    given(...idle)
      .when(
        update({ kind: 'chunk', role: 'agent', content }),
        update({ kind: 'chunk', role: 'thought', content }),
        update({ kind: 'call', toolCallId: 'c1', patch: { status: 'completed' } }),
        update({ kind: 'title', title: 'New' }),
      )
      .then(
        say.agentSaid('t1-late', 'x'),
        say.agentThought('t1-late-thought', 'x'),
        say.patched('c1', 'completed'),
        say.titled('New'),
      ))
  describe('late in a cancelled turn', () => {
    const chunk: AgentUpdate = { kind: 'chunk', role: 'agent', content }
    const call: AgentUpdate = { kind: 'call', toolCallId: 'c1', patch: { status: 'completed' } }
    const next = [...idle, accepted('p2', 'Next'), turnStarted(2, 'p2'), userSaid(2, 'p2', 'Next')]
    test('belongs to it while no other has begun', () =>
      given(...idle)
        .when(update(chunk, 't1'), update(call, 't1'))
        .then(say.agentSaid('t1-late', 'x'), say.patched('c1', 'completed')))
    test.each([
      ['while the next one runs', next],
      ['after the next one has ended', [...next, ended(2, 'p2', 'cancelled')]],
    ])('is no part of the next one, %s', (_when, past) =>
      given(...past)
        .when(update(chunk, 't1'), update(call, 't1'))
        .thenNothing(),
    )
    test('is a part of the turn that runs if it is that one', () =>
      given(...next)
        .when(update(chunk, 't2'))
        .then(say.agentSaid('t2-m1', 'x')))
  })
  test('of its commands holds as its own, and a turn that it begins has an id and is its own', () =>
    given(...idle)
      .when(
        { kind: 'refresh_commands', agent: 'puppet', commands: list },
        { kind: 'begin_agent_turn', agent: 'puppet' },
      )
      .then(
        { kind: 'commands', commands: list, by: 'agent' },
        { kind: 'turn_started', turnId: 't2', promptId: 't2-agent', by: 'agent' },
      ))
})

describe('the conversation that an agent remembers', () => {
  const remembers = (agent: string): Command => ({
    kind: 'remember_agent_session',
    record: { ...say.agentSessionRecord, agent },
  })
  const changed: Body = { kind: 'session_configured', additionalDirectories: [], agent: 'another' }

  test.each([
    ['while the session is idle', idle],
    ['in a turn of the agent in use', working],
  ])('is not stored for an agent that the session does not have, %s', (_when, past) =>
    given(...past)
      .when(remembers('another'))
      .thenNothing(),
  )
  test.each(['puppet', 'another'])('is stored for %s in a turn that began before the change of agents', (agent) =>
    given(...working, changed)
      .when(remembers(agent))
      .then(say.agentSession('a-1', { agent })),
  )
})
