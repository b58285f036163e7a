/** A state that is read from the journal equals the state that clients saw, wherever the journal is cut. */
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { AgentMemory } from '../../ports/agent.ts'
import { stateAfter } from '../../../test/sim/given.ts'
import * as say from '../../../test/sim/words.ts'
import { live, replayed, wishes } from '../../../test/sim/wishes.ts'
import type { Body } from './entries.ts'
import { continued, continuesMessage, evolve } from './evolve.ts'
import { absent, decodeState, encodeState } from './state.ts'

const { created, turnStarted } = say

describe('any history of commands', () => {
  test('evolving any prefix of the journal gives the state of that moment', () => {
    fc.assert(
      fc.property(wishes, (wishes) => {
        const { stored, states } = live(wishes)
        for (const [cut, seen] of states.entries()) expect(replayed(stored.slice(0, cut))).toEqual(seen)
      }),
      { numRuns: 300 },
    )
  })

  test('a snapshot and the entries after it give the same state as the whole journal', () => {
    fc.assert(
      fc.property(wishes, (wishes) => {
        const { stored, states } = live(wishes)
        for (const [cut, state] of states.entries()) {
          if (state.phase === 'absent') continue
          const snapshot = decodeState(encodeState(state))
          expect(snapshot && replayed(stored.slice(cut), snapshot)).toEqual(states.at(-1))
        }
      }),
      { numRuns: 200 },
    )
  })
})

describe('a damaged journal', () => {
  const first = { ...created, seq: 1, at: 1 }
  test('with a gap in its numbers is refused', () => {
    const state = evolve(absent('s-1'), first)
    expect(() => evolve(state, { ...turnStarted(1, 'p1'), seq: 3, at: 3 })).toThrow('goes from entry 1 to 3')
  })
  test('that does not begin with session_created is refused', () => {
    expect(() => evolve(absent('s-1'), { ...turnStarted(1, 'p1'), seq: 1, at: 1 })).toThrow('goes from entry 0 to 1')
  })
  test('a snapshot in another format is ignored', () => {
    expect(decodeState(JSON.stringify({ format: 0, state: {} }))).toBeUndefined()
  })
})

const working = [created, say.accepted('p1', 'x'), turnStarted(1, 'p1')]
const begun = [...working, say.toolCall('c1', 'Look', 'in_progress')]
const idle = [...working, say.ended(1, 'p1', 'end_turn')]
const content = say.text('x')
const outside: Body = { kind: 'message_chunk', role: 'agent', messageId: 'm1', content, origin: 'outside' }
const by = 'Ada'
const meta = { editor: 'x' }
const forked: Body = { kind: 'forked_from', from: { session: 's-0', seq: 1 } }
const configured = (agent?: string): Body => ({
  kind: 'session_configured',
  additionalDirectories: [],
  ...(agent !== undefined && { agent }),
})
const [looking, writing] = [say.searching, { ...say.searching, tool: 'docs__write' }]
const always = (requestId: string, grant = looking): readonly Body[] => [
  say.asked(requestId, 'c1', grant),
  say.resolved(requestId, say.always),
]

describe('of the journal a session keeps', () => {
  const failed = { ...say.ended(1, 'p1', 'error'), error: { code: 'JOURNAL_IO', message: 'Full.' } } as Body
  const checkpoint: Body = { kind: 'agent_checkpoint', data: 1 }
  const commands = [{ name: 'look', description: 'Looks' }]
  const kept = { content: [content], additionalDirectories: [] }
  test.each<[what: string, past: readonly Body[], state: object]>([
    ['its time, which a new name does not change', [created, say.titled('x')], { seq: 2, updatedAt: 1000 }],
    ['that a configuration opens it again', [...idle, say.closed, configured()], { phase: 'idle' }],
    ['that it was forked, also from a closed one', [...idle, say.closed, forked], { phase: 'idle', createdAt: 6000 }],
    ['no answers of the session that it was forked from', [...working, ...always('r1'), forked], { grants: [] }],
    [
      'the answers that were not taken back',
      [
        ...working,
        ...always('r1'),
        ...always('r2', writing),
        { kind: 'permission_revoked', grant: { ...looking, effect: 'allow' } },
      ],
      { grants: [{ ...writing, effect: 'allow' }] },
    ],
    ['no mode where the agent has none', [created, { kind: 'mode', modeId: 'ask' }], { settings: { modes: null } }],
    [
      'the commands that its agent offers, while that stays the same',
      [created, { kind: 'commands', commands }, configured('puppet')],
      { offeredCommands: commands },
    ],
    [
      'none that another agent offered',
      [created, { kind: 'commands', commands }, configured('another')],
      { offeredCommands: null },
    ],
    [
      'where its agents’ checkpoints begin and end',
      [...working, checkpoint, checkpoint],
      { checkpointRange: { first: 4, last: 5 } },
    ],
    [
      'only the checkpoints after a reset',
      [...working, checkpoint, { kind: 'agent_checkpoint', data: 1, reset: true }],
      { checkpointRange: { first: 5, last: 5 } },
    ],
    [
      'a waiting prompt with its sender and what its client said of it',
      [...working, { ...say.accepted('p2', 'x'), by, meta } as Body, say.accepted('p3', 'x')],
      {
        queue: [
          { promptId: 'p2', by, meta, ...kept },
          { promptId: 'p3', ...kept },
        ],
      },
    ],
    [
      'what waits when another prompt is withdrawn',
      [...working, say.accepted('p2', 'x'), say.accepted('p3', 'x'), say.withdrawn('p2', 'cancelled')],
      { queue: [{ promptId: 'p3' }], recentPrompts: [{ promptId: 'p2', stopReason: 'withdrawn' }] },
    ],
    [
      'how a prompt ended of which it knew nothing before',
      [created, say.withdrawn('p1', 'interrupted')],
      { recentPrompts: [{ promptId: 'p1', stopReason: 'interrupted' }] },
    ],
    [
      'how its last turn ended, and why',
      [...working, failed],
      {
        lastEnd: { stopReason: 'error', seq: 4, at: 4000 },
        recentPrompts: [{ promptId: 'p1', stopReason: 'error', error: { code: 'JOURNAL_IO', message: 'Full.' } }],
      },
    ],
    [
      'a turn that its agent began',
      [...idle, { ...turnStarted(2, 't2-agent'), by: 'agent' } as Body],
      { phase: 'working', turns: 2, queue: [], turn: { turnId: 't2', promptId: 't2-agent', by: 'agent', prompt: [] } },
    ],
    [
      'a call open whose change says nothing of its status',
      [...begun, { kind: 'tool_call_patched', toolCallId: 'c1', patch: {} }],
      { turn: { calls: { c1: 'in_progress' }, endedCalls: [] } },
    ],
    [
      'each call that has ended, once',
      [...begun, ...['c1', 'c2', 'c1'].map((id) => say.patched(id, 'failed'))],
      { turn: { calls: {}, endedCalls: ['c1', 'c2'] } },
    ],
    [
      'the input for which a call waits',
      [...begun, say.paused('c1')],
      { turn: { inputRequired: { c1: { input: { questions: { who: { mode: 'form' } } }, resume: { step: 1 } } } } },
    ],
    [
      'that a call runs which has its input, and no call that waited for none',
      [...begun, say.paused('c1'), say.toolCall('c2', 'x', 'pending'), say.continued('c1'), say.continued('c2')],
      { turn: { calls: { c1: 'in_progress', c2: 'pending' }, inputRequired: {} } },
    ],
    [
      'a compaction of which the summary came first',
      [...working, { kind: 'compaction_summary', compactionId: 'k1', content }],
      { turn: { compactions: { k1: 'in_progress' } } },
    ],
    [
      'the messages of its agent apart from those said outside',
      [...working, say.agentSaid('m1', 'x'), outside],
      { turn: { message: null, messages: 1 } },
    ],
    [
      'the questions that are open when another is answered, or one that was never asked',
      [
        ...working,
        say.asked('r1', 'c1'),
        say.asked('r2', 'c1'),
        say.resolved('r0', say.yes),
        say.resolved('r2', say.yes),
      ],
      { phase: 'waiting', questions: [{ requestId: 'r1' }] },
    ],
    [
      'that a question ends with the process that asked it',
      [...working, { ...say.asked('r1', 'c1'), survives: false } as Body],
      { questions: [{ survives: false }] },
    ],
    ['no turn suspended that waits for nothing', [...working, say.suspended(1)], { phase: 'working' }],
    [
      'no turn suspended that is being cancelled',
      [...begun, say.paused('c1'), say.cancelRequested(1), say.suspended(1)],
      { phase: 'cancelling' },
    ],
  ])('%s', (_what, past, state) => expect(stateAfter(...past)).toMatchObject(state))

  test('the last 64 ends of prompts', () => {
    const ends = Array.from({ length: 65 }, (_, n) => say.withdrawn(`p${n}`, 'cancelled'))
    const recentPrompts = Array.from({ length: 64 }, (_, n) => ({ promptId: `p${n + 1}`, stopReason: 'withdrawn' }))
    expect(stateAfter(created, ...ends)).toMatchObject({ recentPrompts })
  })

  test.each([
    { what: 'up to its end', imported: 3, currentModeId: 'ask', grants: [] },
    { what: 'and no more', imported: 2, currentModeId: 'allow-all', grants: [{ ...looking, effect: 'allow' }] },
  ])('no power that came in a file, $what', ({ imported, currentModeId, grants }) => {
    const modes = { currentModeId: 'ask', availableModes: ['ask', 'allow-all'].map((id) => ({ id, name: id })) }
    const file = { ...created, agent: 'script:/x', imported } as Body
    const settings = { modes: { currentModeId } }
    const agent = 'asked-script:/x'
    const opened = stateAfter(file, { kind: 'modes', modes }, { kind: 'mode', modeId: 'allow-all' })
    expect(opened).toMatchObject({ agent, imported, settings })
    const asked = [say.accepted('p1', 'x'), turnStarted(1, 'p1'), ...always('r1')]
    expect(stateAfter({ ...file, imported: imported + 2 } as Body, ...asked)).toMatchObject({ grants })
    expect(stateAfter({ ...created, agent: 'script:/x' } as Body)).toMatchObject({ agent: 'script:/x' })
  })
})

describe('the conversation that an agent of another process remembers', () => {
  const turn = (number: number, end: Parameters<typeof say.ended>[2]): readonly Body[] => [
    say.accepted(`p${number}`, 'x'),
    turnStarted(number, `p${number}`),
    say.ended(number, `p${number}`, end),
  ]
  const own = [created, say.agentSession('a-1')]
  const agentTurn = [{ ...turnStarted(1, 't1-agent'), by: 'agent' } as Body, say.ended(1, 't1-agent', 'cancelled')]
  const clean: Partial<AgentMemory> = { standing: 'clean', endedAt: 5000 }
  test.each<[standing: string, past: readonly Body[], Partial<AgentMemory>]>([
    ['unprompted at first', own, { standing: 'unprompted', agentSessionId: 'a-1' }],
    ['as it was in its own turn', [...own, ...turn(1, 'end_turn').slice(0, 2)], { standing: 'unprompted' }],
    ['clean after a turn that ended by itself', [...own, ...turn(1, 'max_tokens')], clean],
    ['cut after one that did not', [...own, ...turn(1, 'cancelled')], { standing: 'cut', endedAt: 5000 }],
    ['as it was after a turn that the agent began', [...own, ...agentTurn], { standing: 'unprompted' }],
    ['as it was when it is opened again', [...own, ...turn(1, 'end_turn'), say.agentSession('a-1')], clean],
    [
      'unprompted when another is opened',
      [...own, ...turn(1, 'end_turn'), say.agentSession('a-2')],
      { standing: 'unprompted' },
    ],
    [
      'unprompted when another agent opens one of that id',
      [...own, ...turn(1, 'end_turn'), say.agentSession('a-1', { agent: 'another' })],
      { standing: 'unprompted', agent: 'another' },
    ],
    [
      'outdated after a turn of another agent, however that ends',
      [...own, ...turn(1, 'end_turn'), configured('another'), ...turn(2, 'cancelled')],
      { standing: 'outdated', endedAt: 5000 },
    ],
  ])('is %s', (_standing, past, agentSession) => expect(stateAfter(...past)).toMatchObject({ agentSession }))

  test('has no end before its first turn, and none is there in a fork, nor one of this machine in a file', () => {
    for (const past of [
      own,
      [...own, say.agentSession('a-1')],
      [...own, ...turn(1, 'end_turn'), say.agentSession('a-2')],
    ])
      expect(stateAfter(...past)).not.toHaveProperty('agentSession.endedAt')
    for (const past of [idle, [...own, forked]]) expect(stateAfter(...past)).toMatchObject({ agentSession: null })
    expect(stateAfter({ ...created, imported: 2 } as Body, say.agentSession('a-1'))).toMatchObject({
      agentSession: { agent: '' },
    })
  })
})

test('a part of the open message changes nothing but how far the session is', () => {
  const spoken = stateAfter(...working, say.agentSaid('m1', 'x'))
  const place = { seq: spoken.seq + 1, at: 9000 }
  const more = { ...say.agentSaid('m1', 'y'), ...place }
  expect(continuesMessage(spoken, more)).toBe(true)
  expect(continued(spoken, more)).toEqual(evolve(spoken, more))
  const user = { ...say.userSaid(1, 'p1', 'x'), messageId: 'm1' } as Body
  for (const other of [outside, say.agentSaid('m2', 'x'), user, say.toolCall('m1', 'x')])
    expect(continuesMessage(spoken, { ...other, ...place })).toBe(false)
  expect(continuesMessage(stateAfter(...working), { ...say.toolCall('m1', 'x'), seq: 4, at: 9000 })).toBe(false)
  expect(continuesMessage(stateAfter(...idle), { ...more, seq: 5 })).toBe(false)
})
