/** The entries that each command produces in each phase of a session: the stories, and the whole table. */
/* oxlint-disable promise/valid-params -- the "then" of given, when, then is no promise's. */
import { describe, expect, test } from 'vitest'
import type { ErrorCode } from '../../errors/catalogue.ts'
import { given, refusal } from '../../../test/sim/given.ts'
import * as say from '../../../test/sim/words.ts'
import type { Command } from './commands.ts'
import { QUEUE_LIMIT } from './prompt-queue.ts'
import type { Body } from './entries.ts'
import type { State } from './state.ts'

const { created, accepted, turnStarted, userSaid, ended, asked, resolved, nobody } = say
const working = [
  created,
  accepted('p1', 'Hello'),
  turnStarted(1, 'p1'),
  userSaid(1, 'p1', 'Hello'),
  say.titled('Hello'),
]
const waiting = [...working, say.toolCall('c1', 'Delete everything'), asked('r1', 'c1')]
const cancelling = [...working, say.cancelRequested(1)]
const suspended = [...waiting, say.suspended(1)]
const idle = [...working, ended(1, 'p1', 'end_turn')]

describe('a prompt', () => {
  test('starts a turn, is its first message, and gives the session its first title', () =>
    given(created)
      .when(say.prompt('p1', 'Hello'))
      .then(accepted('p1', 'Hello'), turnStarted(1, 'p1'), userSaid(1, 'p1', 'Hello'), say.titled('Hello')))
  test('does not change an existing title', () =>
    given(...idle)
      .when(say.prompt('p2', 'More'))
      .then(accepted('p2', 'More'), turnStarted(2, 'p2'), userSaid(2, 'p2', 'More')))
  test('is queued while a turn runs', () =>
    given(...working)
      .when(say.prompt('p2', 'And then?'))
      .then(accepted('p2', 'And then?')))
  test('is accepted with its sender, what its client says of it, and its further directories', () => {
    const more = { by: 'ada', meta: { editor: 'x' }, additionalDirectories: ['/more'] }
    const { happened } = given(...working).when({ ...say.prompt('p2', 'x'), ...more })
    expect(happened).toEqual({ bodies: [{ ...accepted('p2', 'x'), ...more }] })
  })
  test('starts its turn as soon as the turn before it ends', () =>
    given(...working, accepted('p2', 'And then?'))
      .when(say.ends(1))
      .then(ended(1, 'p1', 'end_turn'), turnStarted(2, 'p2'), userSaid(2, 'p2', 'And then?')))
  test.each([
    ['running', working],
    ['ended', idle],
    ['withdrawn', [...cancelling, accepted('p0', 'x'), say.withdrawn('p1', 'cancelled')]],
    ['waiting', [created, accepted('p0', 'x'), turnStarted(1, 'p0'), accepted('p1', 'Hello')]],
  ])('sent again with the id of one that is %s runs once', (_when, past) =>
    given(...past)
      .when(say.prompt('p1', 'Hello'))
      .thenNothing(),
  )
  test('sent twice in one batch runs once', () =>
    given(...idle)
      .when(say.prompt('p2', 'x'), say.prompt('p2', 'x'))
      .then(accepted('p2', 'x'), turnStarted(2, 'p2'), userSaid(2, 'p2', 'x')))
  test('is refused when the queue is full', () => {
    const queue = Array.from({ length: QUEUE_LIMIT }, (_, n) => accepted(`q${n}`, 'x'))
    given(...working, ...queue)
      .when(say.prompt('one more', 'x'))
      .thenRefused('QUEUE_FULL')
  })
  test('asked after before it came is withdrawn once, and does not run when it comes', () =>
    given(...working)
      .when({ kind: 'reject_unknown_prompts', promptIds: ['p1', 'p2', 'p2'] }, say.prompt('p2', 'x'))
      .then(say.withdrawn('p2', 'interrupted')))
  test('withdrawn when the server stopped is not run again, even as the first of a full queue', () => {
    const queue = Array.from({ length: QUEUE_LIMIT }, (_, n) => accepted(`q${n}`, 'x'))
    const { state } = given(...working, ...queue).when(say.halt, say.prompt('q0', 'x'))
    expect(state.phase).toBe('idle')
  })
})

describe('the agent', () => {
  test('sends messages: adjacent chunks of one role have one message id', () =>
    given(...working)
      .when(say.says(1, 'a'), say.says(1, 'b'), say.thinks(1, 'c'), say.says(1, 'd'))
      .then(
        say.agentSaid('t1-m1', 'a'),
        say.agentSaid('t1-m1', 'b'),
        say.agentThought('t1-m2', 'c'),
        say.agentSaid('t1-m3', 'd'),
      ))
  test('ends a message with a tool call', () =>
    given(...working)
      .when(say.says(1, 'a'), say.reports(1, 'c1', 'pending'), say.says(1, 'b'))
      .then(say.agentSaid('t1-m1', 'a'), say.toolCall('c1', 'c1', 'pending'), say.agentSaid('t1-m2', 'b')))
  test.each(['c1', 'constructor', '__proto__', 'toString'])('reports the tool call %s before it patches it', (id) =>
    given(...working)
      .when(say.reports(1, id, 'pending'), say.reports(1, id, 'completed'))
      .then(say.toolCall(id, id, 'pending'), say.patched(id, 'completed')),
  )
  test('has no entry stored after the end of its turn', () =>
    given(...idle)
      .when(say.says(1, 'late'), say.asks(1, 'r1', 'c1'), say.ends(1))
      .thenNothing())
  test('has no entry stored while its turn is suspended', () =>
    given(...suspended)
      .when(say.says(1, 'late'), say.reports(1, 'c2', 'in_progress'), say.ends(1))
      .thenNothing())
  test('ends with no tool call open; a call that had begun is failed as one that may have run', () =>
    given(...working, say.toolCall('c1', 'x', 'in_progress'), say.toolCall('c2', 'y', 'completed'))
      .when(say.reports(1, 'c3', 'pending'), say.ends(1))
      .then(
        say.toolCall('c3', 'c3', 'pending'),
        say.patched('c1', 'failed', 'The turn ended before this call reported a result; it may have run.'),
        say.patched('c3', 'failed', 'The turn ended before this call reported a result.'),
        ended(1, 'p1', 'end_turn'),
      ))
})

describe('a permission request', () => {
  test('reports its tool call first', () =>
    given(...working)
      .when(say.asks(1, 'r1', 'c1'))
      .then(say.toolCall('c1', 'Delete everything'), asked('r1', 'c1')))
  test('is resolved by the first answer', () =>
    given(...waiting)
      .when(say.answer('r1', 'allow_once'))
      .then(resolved('r1', say.yes)))
  test('refuses a second answer', () =>
    given(...waiting)
      .when(say.answer('r1', 'allow_once'), say.answer('r1', 'reject_once'))
      .thenRefused('PERMISSION_UNKNOWN'))
  test.each(['yes', 'ALLOW_ONCE', '', null])('does not take %j, which was not offered, as an approval', (optionId) =>
    given(...waiting)
      .when(say.answer('r1', optionId))
      .then(resolved('r1', nobody)),
  )
  test('is not resolved by the answer to another request', () =>
    given(...waiting)
      .when(say.answer('r2', 'allow_once'))
      .thenRefused('PERMISSION_UNKNOWN'))
  test('answered twice with “always” leaves one grant', () => {
    const again = [asked('r2', 'c1', say.searching), resolved('r2', say.always)]
    const { state } = given(...working, ...again, ...again)
    expect(state).toMatchObject({ grants: [{ ...say.searching, effect: 'allow' }] })
  })
  test('of a suspended turn resumes the turn when it is answered', () =>
    given(...suspended)
      .when(say.answer('r1', 'allow_once'))
      .then(resolved('r1', say.yes), say.resumed(1)))
})

describe('the stop of a server', () => {
  test('interrupts a running turn, and fails its open calls as calls that may have run', () =>
    given(...working, say.toolCall('c1', 'x', 'in_progress'), accepted('p2', 'x'))
      .when(say.halt)
      .then(
        say.withdrawn('p2', 'interrupted'),
        say.patched('c1', 'failed', 'Interrupted; it may have run.'),
        ended(1, 'p1', 'interrupted'),
      ))
  test('suspends a turn that only waited for a permission', () =>
    given(...waiting)
      .when(say.halt)
      .then(say.suspended(1)))
  test('interrupts a turn that waited while another of its calls ran', () =>
    given(...working, say.toolCall('c2', 'x', 'in_progress'), say.toolCall('c1', 'y'), asked('r1', 'c1'))
      .when(say.halt)
      .then(
        resolved('r1', nobody),
        say.patched('c2', 'failed', 'Interrupted; it may have run.'),
        say.patched('c1', 'failed', 'Interrupted; it may have run.'),
        ended(1, 'p1', 'interrupted'),
      ))
  test('ends a cancelled turn as cancelled, and its open calls as cancelled ones that may have run', () =>
    given(...working, say.toolCall('c1', 'x', 'in_progress'), say.cancelRequested(1))
      .when(say.halt)
      .then(say.patched('c1', 'cancelled', 'Interrupted; it may have run.'), ended(1, 'p1', 'cancelled')))
  test('a second time adds no entry', () =>
    given(...working)
      .when(say.halt, say.halt)
      .then(ended(1, 'p1', 'interrupted')))
})

describe('a tool call whose MCP server asks for input', () => {
  const begun = [...working, say.toolCall('c1', 'Book', 'in_progress')]
  const paused = [...begun, say.paused('c1')]
  const stopped = [...paused, say.suspended(1)]
  const failedWith = (words: string) => say.patched('c1', 'failed', words)
  test('is paused once it has begun', () =>
    given(...begun)
      .when(say.pauses(1, 'c1'))
      .then(say.paused('c1')))
  test.each([
    ['has not begun', [...working, say.toolCall('c1', 'Book', 'pending')]],
    ['is over', [...begun, say.patched('c1', 'completed')]],
    ['is being cancelled', [...begun, say.cancelRequested(1)]],
  ])('is not paused when it %s', (_when, past) =>
    given(...past)
      .when(say.pauses(1, 'c1'))
      .thenNothing(),
  )
  test('continues once', () =>
    given(...paused)
      .when(say.goesOn(1, 'c1'), say.goesOn(1, 'c1'))
      .then(say.continued('c1')))
  test('has its turn suspended when the server stops, and resumed when a client attaches', () =>
    given(...paused)
      .when(say.halt, say.halt, { kind: 'resume_paused' }, { kind: 'resume_paused' })
      .then(say.suspended(1), say.resumed(1)))
  test('can be suspended several times', () =>
    given(...stopped, say.resumed(1))
      .when(say.halt, { kind: 'resume_paused' }, say.halt)
      .then(say.suspended(1), say.resumed(1), say.suspended(1)))
  test('has perhaps run once it has continued', () =>
    given(...paused, say.continued('c1'))
      .when(say.halt)
      .then(failedWith('Interrupted; it may have run.'), ended(1, 'p1', 'interrupted')))
  test('does not suspend a turn in which another call runs', () =>
    given(...paused, say.toolCall('c2', 'Look', 'in_progress'))
      .when(say.halt)
      .then(
        failedWith('Interrupted; it may have run.'),
        say.patched('c2', 'failed', 'Interrupted; it may have run.'),
        ended(1, 'p1', 'interrupted'),
      ))
  test('waits for an open permission request too', () =>
    given(...paused, say.toolCall('c2', 'Delete everything'), asked('r1', 'c2'))
      .when(say.halt, { kind: 'resume_paused' }, say.answer('r1', 'allow_once'))
      .then(say.suspended(1), resolved('r1', say.yes), say.resumed(1)))
  test('is cancelled with its suspended turn', () =>
    given(...stopped)
      .when(say.cancel())
      .then(
        say.cancelRequested(1),
        say.patched('c1', 'cancelled', 'Cancelled; it waited for input, and what it did before that stays done.'),
        ended(1, 'p1', 'cancelled'),
      ))
  test('is closed in a fork', () =>
    expect(given(...stopped).when(say.fork).happened).toMatchObject({
      bodies: [{ kind: 'forked_from' }, { kind: 'tool_call_patched' }, { kind: 'turn_ended' }, { kind: 'title' }],
    }))
  test('of an imported session cannot be continued', () =>
    given(...begun, { kind: 'tool_input_requested', toolCallId: 'c1', input: null, resume: null })
      .when(say.halt)
      .then(failedWith('Interrupted; it may have run.'), ended(1, 'p1', 'interrupted')))
})

describe('what changes nothing is not stored', () => {
  const notice: Body = { kind: 'notice', text: 'The directory is gone.' }
  const usage = { kind: 'usage', usage: { used: 5, size: 10 } } as const
  const list = [{ name: 'call', description: 'Runs a tool' }]
  const named: Body = { kind: 'title', title: 'Mine', by: 'user' }
  test.each<[what: string, past: readonly Body[], Command]>([
    ['the last notice', [...idle, notice], { kind: 'notice', text: 'The directory is gone.' }],
    ['the directories that the session has', idle, say.configure()],
    ['the title that its user gave', [...idle, named], say.rename('Mine')],
    ['a title of the agent after one of the user', [...working, named], say.names(1, 'Other')],
    ['the title that the session has', working, say.names(1, 'Hello')],
    ['the same usage', [...working, usage], say.does(1, usage)],
    [
      'the same commands',
      [...working, { kind: 'commands', commands: list }],
      say.does(1, { kind: 'commands', commands: list }),
    ],
    ['what another agent offers', idle, { ...say.offer, agent: 'another' } as Command],
    ['the commands of another agent', idle, { kind: 'refresh_commands', agent: 'another', commands: list }],
    ['what another agent says', working, { kind: 'agent_update', agent: 'another', update: usage }],
    ['a turn of another agent', idle, { kind: 'begin_agent_turn', agent: 'another' }],
    ['the end of another turn', working, say.ends(2)],
  ])('%s', (_what, past, command) =>
    given(...past)
      .when(command)
      .thenNothing(),
  )
  test('but a notice of what happened again is, and directories that open a closed session, and another agent', () => {
    given(...idle, notice)
      .when({ kind: 'notice', text: 'The directory is gone.', again: 'again' })
      .then(notice)
    const configured: Body = { kind: 'session_configured', additionalDirectories: [] }
    given(...idle, say.closed)
      .when(say.configure())
      .then(configured)
    given(...idle)
      .when({ kind: 'configure', additionalDirectories: [], agent: 'another' })
      .then({ ...configured, agent: 'another' })
  })
})

test('a fork says which entry of which session it goes back to, and has a title if that has one', () => {
  const forked = (seq: number): Body => ({ kind: 'forked_from', from: { session: 's-0', seq } })
  given(created).when(say.fork).then(forked(1))
  given(...idle)
    .when(say.fork)
    .then(forked(idle.length), say.titled('Fork of Hello'))
})

test('to close a session withdraws the prompts that wait', () =>
  given(...working, accepted('p2', 'x'))
    .when(say.close)
    .then(say.withdrawn('p2', 'cancelled'), say.cancelRequested(1)))

const phases: Record<State['phase'], readonly Body[]> = {
  absent: [],
  idle,
  closed: [...idle, say.closed],
  working,
  cancelling,
  waiting,
  suspended,
}

const commands: Record<Command['kind'], Command> = {
  create: say.create,
  configure: say.configure('/tmp'),
  prompt: say.prompt('p9', 'x'),
  cancel: say.cancel(),
  answer: say.answer('r1', 'allow_once'),
  rename: say.rename('Better'),
  resume_paused: { kind: 'resume_paused' },
  revoke: { kind: 'revoke', grant: { ...say.searching, effect: 'allow' } },
  fork: say.fork,
  close: say.close,
  withdraw: say.withdraw('p1'),
  withdraw_waiting: { kind: 'withdraw_waiting', promptId: 'p1' },
  promote: { kind: 'promote', promptId: 'p1' },
  reject_unknown_prompts: { kind: 'reject_unknown_prompts', promptIds: ['p1', 'p9'] },
  notice: { kind: 'notice', text: 'The directory is gone.' },
  set_agent_capabilities: say.offer,
  refresh_commands: { kind: 'refresh_commands', agent: 'puppet', commands: [{ name: 's__p', description: 'P' }] },
  agent_update: {
    kind: 'agent_update',
    agent: 'puppet',
    update: { kind: 'chunk', role: 'agent', content: say.text('x') },
  },
  remember_agent_session: {
    kind: 'remember_agent_session',
    record: say.agentSessionRecord,
  },
  begin_agent_turn: { kind: 'begin_agent_turn', agent: 'puppet' },
  set_mode: { kind: 'set_mode', modeId: 'code' },
  set_config_option: { kind: 'set_config_option', configId: 'model', value: 'large' },
  agent: say.says(1, 'x'),
  ask: say.asks(1, 'r2', 'c2'),
  end: say.ends(1),
  halt: say.halt,
}

type Outcome = ErrorCode | readonly Body['kind'][]
const nothing: Outcome = []
const SNF = 'SESSION_NOT_FOUND'

/** Every command in every phase: the facts that it makes, or the error that names why not. */
const table: Record<Command['kind'], Record<State['phase'], Outcome>> = {
  create: { absent: ['session_created'], ...everywhereElse(nothing) },
  configure: { absent: SNF, ...everywhereElse(['session_configured']) },
  prompt: {
    absent: SNF,
    ...everywhereElse(['prompt_accepted']),
    idle: ['prompt_accepted', 'turn_started', 'message_chunk'],
    closed: 'SESSION_CLOSED',
  },
  cancel: {
    absent: SNF,
    ...everywhereElse(nothing),
    working: ['turn_cancel_requested'],
    waiting: ['permission_resolved', 'turn_cancel_requested'],
    suspended: ['permission_resolved', 'turn_cancel_requested', 'tool_call_patched', 'turn_ended'],
  },
  withdraw: {
    absent: SNF,
    ...everywhereElse(nothing),
    working: ['turn_cancel_requested'],
    waiting: ['permission_resolved', 'turn_cancel_requested'],
    suspended: ['permission_resolved', 'turn_cancel_requested', 'tool_call_patched', 'turn_ended'],
  },
  withdraw_waiting: { absent: SNF, ...everywhereElse(nothing) },
  promote: { absent: SNF, ...everywhereElse(nothing) },
  reject_unknown_prompts: { absent: SNF, ...everywhereElse(['prompt_withdrawn']) },
  notice: { absent: SNF, ...everywhereElse(['notice']) },
  answer: {
    absent: SNF,
    ...everywhereElse('PERMISSION_UNKNOWN'),
    waiting: ['permission_resolved'],
    suspended: ['permission_resolved', 'turn_resumed'],
  },
  rename: { absent: SNF, ...everywhereElse(['title']) },
  // Whatever waits there waits for an answer first.
  resume_paused: { absent: SNF, ...everywhereElse(nothing) },
  // Nothing of the kind was allowed in any of these.
  revoke: { absent: SNF, ...everywhereElse(nothing) },
  fork: {
    absent: SNF,
    idle: ['forked_from', 'title'],
    closed: ['forked_from', 'title'],
    working: ['forked_from', 'turn_ended', 'title'],
    cancelling: ['forked_from', 'turn_ended', 'title'],
    waiting: ['forked_from', 'permission_resolved', 'tool_call_patched', 'turn_ended', 'title'],
    suspended: ['forked_from', 'permission_resolved', 'tool_call_patched', 'turn_ended', 'title'],
  },
  close: {
    absent: SNF,
    idle: ['session_closed'],
    closed: nothing,
    working: ['turn_cancel_requested'],
    cancelling: nothing,
    waiting: ['permission_resolved', 'turn_cancel_requested'],
    suspended: ['permission_resolved', 'turn_cancel_requested', 'tool_call_patched', 'turn_ended'],
  },
  set_agent_capabilities: { absent: SNF, ...everywhereElse(['commands', 'modes', 'config_options']) },
  refresh_commands: { absent: SNF, ...everywhereElse(['commands']), closed: nothing },
  agent_update: { absent: SNF, ...everywhereElse(['message_chunk']), closed: nothing, suspended: nothing },
  remember_agent_session: { absent: SNF, ...everywhereElse(['agent_session']) },
  begin_agent_turn: { absent: SNF, ...everywhereElse(nothing), idle: ['turn_started'] },
  // Nothing was offered.
  set_mode: { absent: SNF, ...everywhereElse('MODE_UNKNOWN'), closed: 'SESSION_CLOSED' },
  set_config_option: { absent: SNF, ...everywhereElse('CONFIG_OPTION_UNKNOWN'), closed: 'SESSION_CLOSED' },
  agent: { absent: SNF, ...whileTheAgentRuns(['message_chunk']) },
  ask: { absent: SNF, ...whileTheAgentRuns(nothing), working: ['tool_call', 'permission_requested'] },
  end: {
    absent: SNF,
    ...whileTheAgentRuns(['turn_ended']),
    waiting: ['permission_resolved', 'tool_call_patched', 'turn_ended'],
  },
  halt: {
    absent: SNF,
    ...everywhereElse(nothing),
    working: ['turn_ended'],
    cancelling: ['turn_ended'],
    waiting: ['turn_suspended'],
  },
}

function everywhereElse(outcome: Outcome) {
  return { idle: outcome, closed: outcome, working: outcome, cancelling: outcome, waiting: outcome, suspended: outcome }
}

function whileTheAgentRuns(outcome: Outcome) {
  return { ...everywhereElse(nothing), working: outcome, cancelling: outcome, waiting: outcome }
}

describe('every command in every phase', () => {
  const cells = Object.values(commands).flatMap((command) =>
    Object.entries(phases).map(([phase, past]) => ({ command, phase: phase as State['phase'], past })),
  )
  test('the table has a history for every phase', () => {
    for (const [phase, past] of Object.entries(phases)) expect(given(...past).state.phase).toBe(phase)
  })
  test.each(cells)('$command.kind while $phase', ({ command, phase, past }) => {
    const { happened } = given(...past).when(command)
    const told = 'bodies' in happened ? happened.bodies.map(({ kind }) => kind) : refusal(happened)?.code
    expect(told).toEqual(table[command.kind][phase])
  })
})
