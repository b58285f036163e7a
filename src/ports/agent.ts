/** What answers prompts. */
import type {
  CompactionPatch,
  Content,
  Meta,
  Notice,
  PermissionOption,
  PermissionOutcome,
  PlanEntry,
  SlashCommand,
  ToolCallPatch,
  Usage,
} from './content.ts'
import type { ConfigOption, ConfigValue, Modes, Settings } from './settings.ts'
import type { TurnClient } from './client.ts'
import type { Cursor } from './journal.ts'
import type { Signal } from './signal.ts'
import type { PathAccessFilter } from './bars.ts'
import type { ToolList, ToolRegistry, ToolResult } from './tools.ts'

export type StopReason = 'end_turn' | 'max_tokens' | 'max_steps' | 'refusal' | 'cancelled'

/**
 * Variables of the environment of a client by which providers of models are reached: their keys and addresses. Secret: kept in
 * memory for the sessions that this client opens, and never stored, logged or told.
 */
export type ClientVariables = Readonly<Record<string, string>>

/** Agents by their full names, which sessions keep: `guide`, `model`, `model:provider:name`, `script:/absolute/file`. */
export interface Agents {
  /** What answers where nobody has named an agent. */
  readonly default: string
  /**
   * The full name that a wish comes to: `auto` is `model` where there is one, else `guide`; any other is itself. Waits only
   * for `auto`, and then only while it is not known yet which models this machine serves. Never throws.
   */
  resolveAgentName(wish: string, lent?: ClientVariables): Promise<string>
  /**
   * The agent as it is now: a turn that has begun keeps the one that it was given, whatever becomes of its file. A model is
   * asked with what a client has lent, where that says how to reach its provider.
   * Throws AGENT_UNKNOWN, PATH_NOT_ABSOLUTE, SCRIPT_UNREADABLE or SCRIPT_INVALID.
   */
  open(name: string, lent?: ClientVariables): Promise<Agent>
  /** Calls `listener` when agents of this kind, like `model`, have something else to offer than when they were opened. */
  whenChanged(listener: (kind: string) => void): void
  /** The kinds of prompt content that an agent of this name takes besides text and links. Never throws, never waits. */
  accepts(name: string, lent?: ClientVariables): PromptKinds
}

export interface Agent {
  /** What people may type after a slash. */
  readonly commands: readonly SlashCommand[]
  /** The same where the session has these tools and directories, with the prompts of its MCP servers. Never throws. */
  readonly commandsFor?: (tools: ToolList, roots: readonly string[]) => Promise<readonly SlashCommand[]>
  /** What it can be set to, and what it is set to where nobody has set it otherwise. */
  readonly modes?: Modes
  readonly configOptions?: readonly ConfigOption[]
  /** Plays one turn. A throw ends the turn with an error that its client sees. */
  run(turn: Turn): Promise<StopReason>
}

export interface PromptKinds {
  readonly image: boolean
  readonly audio: boolean
  readonly embeddedContext: boolean
}

/** One turn as its agent sees it. All that the agent says goes through here and is stored before anyone sees it. */
export interface Turn {
  readonly turnId: string
  readonly sessionId: string
  /** `[cwd, …additionalDirectories]`, absolute. */
  readonly roots: readonly string[]
  readonly prompt: readonly Content[]
  /** What its client attached to the prompt as a whole, such as the context of a trace. */
  readonly promptMeta?: Meta
  /** Set when the turn goes on after a restart: what it waited for. */
  readonly resumed?: Resumption
  readonly signal: Signal
  readonly tools: ToolRegistry
  /** What the client whose prompt this is offers now: nothing once it has left, and nobody else is ever asked instead. */
  readonly client: TurnClient
  /** As people and the agent have set it by now. */
  readonly settings: Settings
  /** Resolves when there is room for more, not when it is stored: a slow disk pauses the agent here. */
  say(content: Content): Promise<void>
  think(content: Content): Promise<void>
  plan(entries: readonly PlanEntry[]): Promise<void>
  /** Stores and passes on what the agent said in another protocol (like `acp/v1`) and no other method here can say. */
  foreign(protocol: string, update: unknown): Promise<void>
  /** Names the session, unless a person has. */
  title(title: string): Promise<void>
  usage(usage: Usage): Promise<void>
  /** What people may type after a slash from now on. */
  offerCommands(commands: readonly SlashCommand[]): Promise<void>
  /** Throws MODE_UNKNOWN. */
  setMode(modeId: string): Promise<void>
  /** Throws CONFIG_OPTION_UNKNOWN and CONFIG_VALUE_UNKNOWN. */
  setConfigOption(configId: string, value: ConfigValue): Promise<void>
  /** Tells whoever looks on now and can show it, after all that was said before. Never stored. */
  notify(notice: Notice): Promise<void>
  /** Tells of a compaction by its id, unique in the session. What follows its end is passed over. */
  compact(compactionId: string, patch: CompactionPatch): Promise<void>
  /** Adds to the summary of a compaction that is in progress, and begins it if need be. */
  summarize(compactionId: string, content: Content): Promise<void>
  /** Reports a tool call that the agent runs by itself; the first patch of an id needs a title. */
  report(toolCallId: string, patch: ToolCallPatch): Promise<void>
  /** An id for a tool call that no other call of the session has. */
  newToolCallId(): string
  /**
   * Asks whoever is attached and waits, also through a restart: `state` (JSON) comes back in `resumed`.
   * Resolves `cancelled` when the turn is cancelled. Never resolves to a yes that nobody gave.
   */
  ask(question: Question): Promise<PermissionOutcome>
  /**
   * Keeps what the agent needs to know again, as JSON: stored when it resolves, told to nobody, copied by a fork.
   * With `reset`, earlier checkpoints are never read again. Resolves with the place of the memo.
   */
  checkpoint(memo: unknown, kind?: 'reset'): Promise<Cursor>
  /** What the agents of this session kept after this place, in order, from the last reset on. Reads the journal. */
  readCheckpoints(after: Cursor): AsyncIterable<CheckpointEntry>
  /** The text that this session's agents said to people after this place, in whatever turn. Reads the journal. */
  assistantTextAfter(place: Cursor): Promise<string>
  /** What people asked after this place in turns of which a crash left nothing else. Reads the journal, if there were any. */
  interruptedPromptsAfter(place: Cursor): Promise<readonly (readonly Content[])[]>
  /** What rules keep from files that the agent reads of its own accord, such as instructions; as the rules are now. */
  pathAccess(): Promise<PathAccessFilter>
  /**
   * Runs a tool of the registry: reported, `in_progress` stored before its first effect, its result stored.
   * A tool that fails, times out or is unknown is a result with `isError`, never a throw.
   */
  call(request: ToolRequest): Promise<ToolResult>
}

export interface Question {
  readonly toolCallId: string
  /** Brings the tool call up to date before the question; needs a title if the call is new. */
  readonly patch: ToolCallPatch
  readonly options: readonly PermissionOption[]
  /** What the agent needs to go on from here after a restart, as JSON. */
  readonly state: unknown
}

export interface ToolRequest {
  /** Its name in the registry. */
  readonly name: string
  readonly args: unknown
  /** What people read of a call that they are not asked about; if absent, its own title. */
  readonly title?: string
  readonly toolCallId?: string
  readonly timeoutMs?: number
  /** `policy`: asked about first unless it needs no question. `granted`: whoever calls has the answer already. */
  readonly permission: 'policy' | 'granted'
  /** What the agent needs to go on after a restart if somebody must be asked, before the call or in it, as JSON. */
  readonly resume?: unknown
}

export interface CheckpointEntry {
  readonly cursor: Cursor
  readonly data: unknown
}

export interface Resumption {
  /** The call that was asked about, if one was, then those that had begun and wait for input. At least one. */
  readonly calls: readonly ResumedCall[]
  /** The tool calls of this turn that had ended before. */
  readonly ended: readonly string[]
}

export interface ResumedCall {
  readonly toolCallId: string
  /** What `ask` or `call` was given to go on with. */
  readonly state: unknown
  /** `begun`: nobody need be asked; the same call with the same id, `granted`, goes on where it stood. */
  readonly outcome: PermissionOutcome | { readonly outcome: 'begun' }
}
