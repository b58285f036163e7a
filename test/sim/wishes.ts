/** Anything that may be asked of a session, in any order: valid, late, repeated or plain wrong. For fast-check. */
import * as fc from 'fast-check'
import type { AgentEvent, Command } from '../../src/session/domain/commands.ts'
import { decideBatch } from '../../src/session/domain/decide.ts'
import { type Entry, decodeEntry } from '../../src/session/domain/entries.ts'
import type { Content } from '../../src/ports/values/content.ts'
import type { StoredEntry } from '../../src/ports/journal.ts'
import { evolve } from '../../src/session/domain/evolve.ts'
import { type State, absent, isBusy, openQuestions } from '../../src/session/domain/state.ts'
import { configOptions, create, modes, options, searching, text } from './words.ts'

/** What a wish says for the turn or the question that is open when it is asked. */
/** As it comes back from where it was stored: JSON has no negative zero. */
const json = (maxDepth: number) =>
  fc.jsonValue({ maxDepth }).map((value) => JSON.parse(JSON.stringify(value)) as unknown)

const OPEN = 'open'

const promptId = fc.constantFrom('p1', 'p2', 'p3', 'p4', 'p5', 'p6')
const turnId = mostly('t1', 't2', '')
const requestId = mostly('r1', 'r2', 'r3')
const freshRequestId = fc.integer({ min: 1, max: 1_000_000 }).map((n) => `r${n}`)
const toolCallId = fc.constantFrom('c1', 'c2', 'constructor', '__proto__')
const optionId = fc.constantFrom('allow_once', 'allow_always', 'reject_once', 'made up', null)
const status = fc.constantFrom('pending', 'in_progress', 'completed', 'failed', 'cancelled')
const patch = fc.record(
  {
    status,
    content: fc.constantFrom([{ type: 'content' as const, content: text('a') }], []),
    rawOutput: fc.constantFrom(1, 2),
  },
  { requiredKeys: [] },
)
const modeId = fc.constantFrom('ask', 'code', 'fly')
const configId = fc.constantFrom('way', 'model', 'loud', 'colour')
const value = fc.constantFrom('ask', 'code', 'small', 'large', true, false)
const words = fc.oneof(fc.constantFrom('Hello', '', ' ', '阵列', '👋🏽', '\ud83d'), fc.string({ maxLength: 8 }))
const content: fc.Arbitrary<Content> = words.chain((said) =>
  fc.constantFrom<Content[]>(
    text(said),
    { ...text(said), annotations: { audience: ['user'] } },
    { ...text(said), meta: { k: 1 } },
  ),
)

function mostly(...others: readonly string[]) {
  return fc.oneof({ weight: 6, arbitrary: fc.constant(OPEN) }, { weight: 1, arbitrary: fc.constantFrom(...others) })
}

const event: fc.Arbitrary<AgentEvent> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('chunk'), role: fc.constantFrom('agent', 'thought'), content }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('chunks'),
      role: fc.constantFrom('agent', 'thought'),
      texts: fc.array(words, { maxLength: 4 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('call'), toolCallId, patch }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('tool_input_requested'),
      toolCallId,
      input: fc.record({ questions: fc.constant({}), state: json(1) }),
      resume: fc.constant({ step: 1 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('tool_input_resolved'), toolCallId }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('title'), title: words }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('foreign'), protocol: fc.constant('acp/v1'), update: json(2) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('mode'), modeId }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('config_option'), configId, value }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('compaction'),
      compactionId: toolCallId,
      patch: fc.record({ status: fc.constantFrom('in_progress', 'completed', 'failed', 'cancelled') }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('compaction_summary'), compactionId: toolCallId, content }),
  },
  {
    weight: 1,
    arbitrary: words.map((content): AgentEvent => ({
      kind: 'plan',
      entries: [{ content, priority: 'low', status: 'pending' }],
    })),
  },
)
const ask = fc.record({
  toolCallId,
  patch: fc.constant({ title: 'Delete everything' }),
  options: fc.constant(options),
  grant: fc.constant(searching),
  resume: json(2),
})

const commands = {
  create: fc.constant(create),
  configure: fc.record({ kind: fc.constant('configure'), additionalDirectories: fc.subarray(['/tmp', '/srv']) }),
  prompt: fc.record({ kind: fc.constant('prompt'), promptId, content: fc.array(content, { maxLength: 2 }) }),
  cancel: fc.record({ kind: fc.constant('cancel'), queued: fc.subarray(['p1', 'p3', 'p5']) }),
  withdraw: fc.record({ kind: fc.constant('withdraw'), promptId }),
  withdraw_waiting: fc.record({ kind: fc.constant('withdraw_waiting'), promptId }),
  promote: fc.record({ kind: fc.constant('promote'), promptId, now: fc.boolean() }),
  reject_unknown_prompts: fc.record({
    kind: fc.constant('reject_unknown_prompts'),
    promptIds: fc.subarray(['p2', 'p4', 'p6']),
  }),
  notice: fc.record({ kind: fc.constant('notice'), text: words }),
  answer: fc.record({ kind: fc.constant('answer'), requestId, optionId }),
  resume_paused: fc.constant({ kind: 'resume_paused' }),
  revoke: fc.constant({ kind: 'revoke', grant: { ...searching, effect: 'allow' } }),
  rename: words.map((title) => ({ kind: 'rename' as const, title })),
  fork: fc.constant({ kind: 'fork', session: 's-0' }),
  close: fc.constant({ kind: 'close' }),
  set_agent_capabilities: fc.record({
    kind: fc.constant('set_agent_capabilities'),
    agent: fc.constantFrom('puppet', 'another'),
    commands: fc.subarray([{ name: 'call', description: 'Runs a tool' }]),
    settings: fc.record({
      modes: fc.constantFrom(null, modes),
      configOptions: fc.subarray([...configOptions]),
    }),
  }),
  refresh_commands: fc.record({
    kind: fc.constant('refresh_commands'),
    agent: fc.constantFrom('puppet', 'another'),
    commands: fc.subarray([{ name: 's__review', description: 'Reviews' }]),
  }),
  agent_update: fc.record({
    kind: fc.constant('agent_update'),
    agent: fc.constantFrom('puppet', 'another'),
    update: fc.oneof(
      fc.record({ kind: fc.constant('chunk'), role: fc.constantFrom('agent', 'thought'), content }),
      fc.record({ kind: fc.constant('title'), title: words }),
      fc.record({ kind: fc.constant('foreign'), protocol: fc.constant('acp/1'), update: json(1) }),
    ),
  }),
  remember_agent_session: fc.record({
    kind: fc.constant('remember_agent_session'),
    record: fc.record({
      generation: fc.integer({ min: 1, max: 9 }),
      agent: fc.constantFrom('puppet', 'another'),
      version: fc.constant('1.0.0'),
      agentSessionId: words,
      how: fc.constantFrom('new', 'load', 'resume', 'reseed'),
      caps: fc.subarray(['load', 'resume']),
      cwd: fc.constant('/home/ada'),
      roots: fc.constant(['/home/ada']),
      upTo: fc.nat(9),
    }),
  }),
  begin_agent_turn: fc.record({
    kind: fc.constant('begin_agent_turn'),
    agent: fc.constantFrom('puppet', 'another'),
  }),
  set_mode: fc.record({ kind: fc.constant('set_mode'), modeId }),
  set_config_option: fc.record({ kind: fc.constant('set_config_option'), configId, value }),
  agent: fc.record({ kind: fc.constant('agent'), turnId, event }),
  ask: fc.record({ kind: fc.constant('ask'), turnId, requestId: freshRequestId, ask }),
  end: fc.record({
    kind: fc.constant('end'),
    turnId,
    stopReason: fc.constantFrom('end_turn', 'refusal', 'cancelled', 'error'),
  }),
  halt: fc.constant({ kind: 'halt' }),
} satisfies Record<Command['kind'], fc.Arbitrary<Command>>

const often: Partial<Record<Command['kind'], number>> = { prompt: 8, agent: 20, ask: 6, answer: 5, end: 5 }

const command: fc.Arbitrary<Command> = fc.oneof(
  ...Object.entries(commands).map(([kind, arbitrary]) => ({
    weight: often[kind as Command['kind']] ?? 1,
    arbitrary: arbitrary as fc.Arbitrary<Command>,
  })),
)

/** Usually for a session that was created; sometimes for one that never was. */
export const wishes: fc.Arbitrary<readonly Command[]> = fc
  .tuple(fc.integer({ min: 0, max: 19 }), fc.array(command, { maxLength: 60 }))
  .map(([chance, rest]) => (chance === 0 ? rest : [create].concat(rest)))

/** The wish with the turn or question in it that is open now. */
export function settled(wish: Command, state: State): Command {
  if (!isBusy(state)) return wish
  if ('turnId' in wish && wish.turnId === OPEN) return { ...wish, turnId: state.turn.turnId }
  const [question] = openQuestions(state)
  const answers = wish.kind === 'answer' && wish.requestId === OPEN && question !== undefined
  return answers ? { ...wish, requestId: question.requestId } : wish
}

/** What a session lived through: every entry as it was told and as it was stored, and the state after each. */
export interface Life {
  readonly entries: readonly Entry[]
  readonly stored: readonly StoredEntry[]
  /** `states[n]` is what the survivors saw when entry `n` was the last. */
  readonly states: readonly State[]
  readonly commands: readonly Command[]
}

export function live(wishes: readonly Command[]): Life {
  let state: State = absent('s-1')
  const commands: Command[] = []
  const entries: Entry[] = []
  const stored: StoredEntry[] = []
  for (const wish of wishes) {
    const command = settled(wish, state)
    commands.push(command)
    const batch = decideBatch([command], state, commands.length)
    entries.push(...batch.entries)
    stored.push(...batch.stored)
    state = batch.state
  }
  return { entries, stored, states: statesOf(entries), commands }
}

function statesOf(entries: readonly Entry[]): readonly State[] {
  const states: State[] = [absent('s-1')]
  for (const entry of entries) states.push(evolve(states.at(-1) ?? absent('s-1'), entry))
  return states
}

/** What the next owner makes of what is left in the journal. */
export function replayed(stored: readonly StoredEntry[], from: State = absent('s-1')): State {
  return stored.map(decodeEntry).reduce<State>(evolve, from)
}
