/** In which ways an agent differs from the protocol and from the others: plain data, one object for one version of an agent. */

/** An answer of the agent that means something: all that is given must fit. `text` is looked for in the message and the data. */
export interface ErrorPattern {
  readonly code?: number
  /** In any letter case. */
  readonly text?: string
}

/** By what an agent that speaks outside turns says that it is done. */
export type TurnSignal = 'claude_origin' | 'codex_thread_status' | 'pi_running'

/** What the replay of a load does not contain though the live turn did. */
export type Lost = 'tool_calls' | 'tool_outputs' | 'tool_kinds' | 'diffs' | 'thoughts' | 'order' | 'boundaries'

export interface Quirks {
  /** How its process is ended: first its stdin is closed, first SIGTERM, or SIGKILL at once, because the gentler ways do nothing. */
  readonly stopWith: 'eof' | 'term' | 'kill'
  /** How many minutes a process without work is kept. */
  readonly idleMinutes: number
  /** How long `initialize` may be silent, in milliseconds. */
  readonly initMs: number
  /** Errors of a load or resume that mean: there is no such session. Besides code -32002. */
  readonly notFound: readonly ErrorPattern[]
  /** Errors that mean: another process has this session open. */
  readonly busy: readonly ErrorPattern[]
  /** Errors after which the process answers nothing else: it is replaced by a fresh one. */
  readonly reloadAfter: readonly ErrorPattern[]
  /** Whether its `session/resume`, `session/load` and `session/fork` are used where it has them. */
  readonly useResume: boolean
  readonly useLoad: boolean
  readonly useFork: boolean
  /** Whether a session that never had a prompt can be loaded. */
  readonly unpromptedLoads: boolean
  /** Silence after the response of a load until its replay counts as complete, in milliseconds. */
  readonly replayAfterResponseMs: number
  readonly replayLoses: readonly Lost[]
  /** A replayed user message that begins with one of these was not typed by the user. */
  readonly pseudoUser: readonly string[]
  /** Agent messages have the same ids live and in a replay: of two turns with one prompt, the ids say which is which. */
  readonly stableIds: boolean
  /** An agent message that begins with one of these is not part of the answer: it is kept as a foreign update. */
  readonly textNoise: readonly string[]
  /** A turn whose only text begins with one of these has failed, though it ended as `end_turn`. */
  readonly errorAsText: readonly string[]
  /** A turn without any update that ends as `end_turn` has failed. */
  readonly emptyEndIsError: boolean
  /** How long after a cancel its process is killed, in milliseconds. */
  readonly cancelKillMs: number
  /** How long after the response of a prompt its last updates may come, in milliseconds. */
  readonly lateMs: number
  readonly turnSignals: readonly TurnSignal[]
  /** How a model is chosen where it is offered in `models` and not as an option. */
  readonly modelVerb: 'set_config_option' | 'set_model' | 'none'
  /** What its modes really are: modes, or how much it thinks. */
  readonly modesAre: 'mode' | 'thought_level'
  /** A later title of a tool call is vaguer than the first, which is kept. */
  readonly keepTitle: boolean
  /** What its store has of a turn that was cut. */
  readonly cutKeeps: 'nothing' | 'prompt' | 'partial'
  /** Whether it asks before it changes something: always, for some tools, or never. */
  readonly asks: 'always' | 'some' | 'never' | 'unknown'
  /** How it gets MCP servers: by Parley's loopback front, as they are, or not at all, because it ignores them. */
  readonly mcp: 'front' | 'pass' | 'none'
  /** The major version of ACP to ask for. */
  readonly protocol: number
  /** Under which name Parley must introduce itself; absent, its own. */
  readonly clientInfo?: { readonly name: string; readonly version: string }
  /** A login method that must be named once in each process, though the user is logged in; left out where it does not offer it. */
  readonly authBefore?: string
  /** The arguments of a terminal login follow the agent's own, or replace them. */
  readonly terminalArgs: 'append' | 'replace'
  /** Requests of its own that block a turn until they are answered; they become questions. */
  readonly blockingRequests: readonly string[]
}

/** What holds for an agent that was not examined: the ways that lose nothing and hang nowhere. */
export const SAFE: Quirks = {
  stopWith: 'eof',
  idleMinutes: 10,
  initMs: 60_000,
  notFound: [],
  busy: [],
  reloadAfter: [],
  useResume: true,
  useLoad: true,
  useFork: true,
  unpromptedLoads: false,
  replayAfterResponseMs: 250,
  replayLoses: [],
  pseudoUser: [],
  stableIds: false,
  textNoise: [],
  errorAsText: [],
  emptyEndIsError: false,
  cancelKillMs: 10_000,
  lateMs: 0,
  turnSignals: [],
  modelVerb: 'set_config_option',
  modesAre: 'mode',
  keepTitle: false,
  cutKeeps: 'nothing',
  asks: 'unknown',
  mcp: 'front',
  protocol: 1,
  terminalArgs: 'append',
  blockingRequests: [],
}
