/** The agent that answers the prompts of a session. It is opened for that session, and closed with it. */
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
  ToolStatus,
  Usage,
} from './values/content.ts'
import type { ConfigValue, Settings } from './values/settings.ts'
import type { TurnClient } from './client-peer.ts'
import type { Cursor } from './journal.ts'
import type { Signal } from './values/signal.ts'
import type { PathAccessFilter } from './values/path-access.ts'
import type { McpServer, ToolList, ToolRegistry, ToolResult } from './tools.ts'

export type StopReason = 'end_turn' | 'max_tokens' | 'max_steps' | 'refusal' | 'cancelled'

/**
 * Environment variables of a client that say how model providers are reached: keys and addresses. They are secrets: kept in
 * memory for the sessions that this client opens, never stored, logged or sent to another client.
 */
export type ClientVariables = Readonly<Record<string, string>>

/** Where an agent was named: for whom, and in which directory, whose project may have agents of its own. */
export interface NamedAt {
  readonly variables?: ClientVariables | undefined
  /** Absolute. */
  readonly cwd?: string
}

/** The agents of a server by their full names, which sessions store: `guide`, `model`, `model:provider:name`, `script:/absolute/file`. */
export interface Agents {
  /** The name for sessions whose client names no agent. */
  readonly default: string
  /**
   * The full name for a requested one: `auto` becomes `model` if there is a model, else `guide`; any other name stays. Waits
   * only for `auto`, and only while the models of this machine are not known yet. Never throws.
   */
  resolveAgentName(requested: string, at?: NamedAt): Promise<string>
  /** Throws what `open` would throw for this name, and opens nothing. */
  check(name: string, at?: NamedAt): Promise<void>
  /**
   * Opens the agent of one session. The session closes it. Every adapter passes `test/contracts/agent.ts`.
   * Throws AGENT_UNKNOWN, PATH_NOT_ABSOLUTE, SCRIPT_UNREADABLE or SCRIPT_INVALID.
   */
  open(name: string, session: AgentSession): Promise<Agent>
  /**
   * A session was deleted that had these conversations: its agents may delete their own copies. Waits for nothing, never throws.
   * Absent where no agent keeps anything.
   */
  readonly forget?: (conversations: readonly DeletedConversation[]) => void
  /** How its user logs in to an agent of this name, as it said when it was last met. Never throws, never waits. Absent: no agent has logins. */
  readonly logins?: (name: string) => readonly AgentLogin[]
  /** The kinds of prompt content that an agent of this name takes besides text and links. Never throws, never waits. */
  accepts(name: string, variables?: ClientVariables): PromptKinds
}

/**
 * The session that an agent is opened for. Its fields are read when they are needed: clients that come and go change them,
 * also while no turn runs.
 */
export interface AgentSession {
  readonly id: string
  /** Absolute. */
  readonly cwd: string
  /** `[cwd, …additionalDirectories]`, absolute. */
  readonly roots: readonly string[]
  /** The MCP servers that the session's clients declared. Their `env` and `headers` are secrets. */
  readonly mcpServers: readonly McpServer[]
  /** Those of the last client that brought any. */
  readonly variables: ClientVariables | undefined
  /** The session's current settings. The agent applies values that were set before it was opened. */
  readonly settings: Settings
  /** The window of the model that its last turn had, in tokens; undefined where no agent has said it. */
  readonly windowTokens: number | undefined
  /** The session reads the agent's `capabilities` again and stores what changed. Resolves when that is done. Never rejects. */
  capabilitiesChanged(): Promise<void>
  /** The session is being created, or was since this process has it; false for one that was loaded. */
  readonly isNew: boolean
  /** Prompts that wait for the end of the running turn. */
  readonly promptsWaiting: number
  /** What was last stored with `remember` by an agent of this name; undefined also in a copy of a session, and in an imported one. */
  readonly memory: AgentMemory | undefined
  /** How many conversations agents have begun for this session, of this agent and of others. */
  readonly generation: number
  /**
   * The conversation that an agent of this name had in the session that this one was forked from: only if the fork was made at its
   * end, and neither of them has had a turn since. Reads the journal.
   */
  forkable(): Promise<AgentMemory | undefined>
  /** Stores under which id the agent itself knows the session from now on. Throws if it cannot be stored. */
  remember(record: AgentSessionRecord): Promise<void>
  /** The turns after this cursor, whichever agent they had, in order; also the one that runs. Reads the journal. */
  pastTurns(after: Cursor): AsyncIterable<PastTurn>
  /**
   * The agent works although no prompt asked it to: begins a turn for that, which the agent is then given to `run`. False if
   * a turn is open already, or the session has another agent by now.
   */
  beginTurn(): Promise<boolean>
  /** Adds a sentence of the server to the conversation; `again`: also if it is the same as the last one. Never rejects. */
  notice(text: string, again?: 'again'): Promise<void>
  /** Shows the attached clients why nothing is to be seen of the agent; undefined once there is. */
  showActivity(activity: AgentActivity | undefined): void
  /**
   * The agent says something outside its turns, such as a title, or words that come after the end of a turn. While a turn
   * runs, it becomes part of that turn. `turnId`: it is of this turn, and is dropped once another has begun. Dropped once the
   * session has another agent. Resolves when there is room for more; never rejects.
   */
  update(update: AgentUpdate, turnId?: string): Promise<void>
}

/** What an external agent does while nothing of it can be seen: how it is now, never stored. */
export interface AgentActivity {
  /** `starting`: its process and its conversation; `quiet`: it works on a prompt, and has said nothing for some time. */
  readonly state: 'starting' | 'quiet'
  /** As users name it. */
  readonly agent: string
  /** Of a start, one word: what it has come to. */
  readonly step?: string
  /** In milliseconds since 1970. */
  readonly since: number
  /** Of a quiet agent: the titles of the tool calls that it has not ended. */
  readonly calls?: readonly string[]
  /** Of an agent that has been quiet for longer: whether its processes used the processor lately. */
  readonly usesCpu?: boolean
}

/** A process that an agent has for one session. */
export interface AgentProcessStatus {
  /** As users name the agent. */
  readonly agent: string
  /** Empty if it is not known. */
  readonly version: string
  readonly pid: number
  /** Of all its processes; absent where the system does not tell. */
  readonly residentBytes?: number
  /** Processor time so far, likewise. */
  readonly cpuMs?: number
  /** Absent while it is at work. */
  readonly idleSeconds?: number
  /** Of an agent at work that has said nothing for a while: for how long. */
  readonly quietSeconds?: number
  /** The limits that the user has set for it. */
  readonly maxBytes?: number
  readonly stallMinutes?: number
}

/** Updates that an agent may send at any time. */
export type AgentUpdate =
  | {
      readonly kind: 'chunk'
      readonly role: 'agent' | 'thought'
      readonly content: Content
      /** As `MessagePart` has it. */
      readonly messageId?: string
    }
  /** More about a tool call of a turn that has ended. */
  | { readonly kind: 'call'; readonly toolCallId: string; readonly patch: ToolCallPatch }
  | { readonly kind: 'title'; readonly title: string }
  | { readonly kind: 'usage'; readonly usage: Usage }
  | { readonly kind: 'commands'; readonly commands: readonly SlashCommand[] }
  /** The agent changed its own setting. An unknown mode, option or value is dropped. */
  | { readonly kind: 'mode'; readonly modeId: string }
  | { readonly kind: 'config_option'; readonly configId: string; readonly value: ConfigValue }
  | ({ readonly kind: 'foreign' } & ForeignUpdate)

/** An update of an external agent for which Parley has no entry of its own: stored, and sent to clients of that protocol as it is. */
export interface ForeignUpdate {
  /** The protocol and its major version, like `acp/v1`. */
  readonly protocol: string
  /** JSON. */
  readonly update: unknown
}

/** Under which id an external agent knows a session, which is never the session's own. */
export interface AgentSessionRecord {
  /** 1, 2, 3 …: each is another conversation in the agent's own store. */
  readonly generation: number
  /** The agent's full name. */
  readonly agent: string
  readonly version: string
  readonly agentSessionId: string
  /** How the agent came to it: a new conversation, its own one reopened, or a new one that got what came before. */
  readonly how: 'new' | 'load' | 'resume' | 'reseed' | 'import' | 'fork'
  /** What the agent can do with it, such as `load` and `resume`. */
  readonly caps: readonly string[]
  /** Where it was opened. Absolute. */
  readonly cwd: string
  readonly roots: readonly string[]
  /** What came before this entry of the journal is not in the agent's own conversation. */
  readonly upTo: number
  /**
   * It got what came before `upTo` as its system prompt, in at most so many bytes of UTF-8, and gets the same again whenever it is
   * reopened, as long as it takes one. Absent: in front of a prompt, or not at all.
   */
  readonly primedBytes?: number
  /** MCP servers and directories of the session that it cannot use; users have been shown a notice. Absent: none. */
  readonly leftOut?: readonly string[]
}

/** A conversation in an agent's own store whose session was deleted. */
export interface DeletedConversation extends Pick<AgentSessionRecord, 'agent' | 'agentSessionId' | 'caps' | 'cwd'> {
  readonly sessionId: string
  /** It was there before Parley. */
  readonly isImported: boolean
}

/**
 * `unprompted`: it never had a prompt; `clean`: its last turn ended by itself; `cut`: that was cancelled, failed or interrupted;
 * `outdated`: other agents have had turns since.
 */
export interface AgentMemory extends AgentSessionRecord {
  readonly standing: 'unprompted' | 'clean' | 'cut' | 'outdated'
  /** When its last turn ended, in milliseconds since 1970; absent if it had none. */
  readonly endedAt?: number
}

/** A turn that an agent had before Parley had its session, as the agent itself tells it. */
export interface EarlierTurn {
  /** Empty where the agent began to speak without one. */
  readonly prompt: readonly Content[]
  readonly said: readonly EarlierUpdate[]
}

export type EarlierUpdate =
  | Extract<AgentUpdate, { readonly kind: 'chunk' | 'call' | 'foreign' }>
  | { readonly kind: 'plan'; readonly entries: readonly PlanEntry[] }

/** A turn as an agent reads it that does not know it. Long texts are shortened to their ends. */
export interface PastTurn {
  readonly turnId: string
  /** The entry that began it. */
  readonly cursor: Cursor
  /** `outside`: made in the agent's own tool, without Parley. */
  readonly by: 'prompt' | 'agent' | 'outside'
  readonly prompt: readonly Content[]
  readonly parts: readonly PastPart[]
  /** Absent while it runs. */
  readonly end?: StopReason | 'interrupted' | 'error'
}

export type PastPart =
  | { readonly kind: 'text'; readonly text: string; readonly messageId?: string }
  | {
      readonly kind: 'call'
      readonly toolCallId: string
      readonly title: string
      readonly status: ToolStatus
      readonly paths: readonly string[]
      /** Of each file that it changed: its path, and how many lines were added and removed. */
      readonly diffs: readonly { readonly path: string; readonly added: number; readonly removed: number }[]
    }

/** The agent of one session. */
export interface Agent {
  /** As they are now; the agent calls `AgentSession.capabilitiesChanged` when they change. Also read when a turn starts. */
  readonly capabilities: AgentCapabilities
  /** All slash commands when the session has these tools. Absent when they do not depend on tools. Never throws. */
  readonly commandsFor?: (tools: ToolList) => Promise<readonly SlashCommand[]>
  /**
   * A client sets a mode, during a turn or between turns; it is one of the agent's modes. Stored when this resolves, refused
   * with what it throws. Absent from an agent that reads `Turn.settings`.
   */
  readonly setMode?: (modeId: string) => Promise<void>
  /** The same for a config option. */
  readonly setConfigOption?: (configId: string, value: ConfigValue) => Promise<void>
  /**
   * Ends the process of the agent; its next prompt starts another. `idle`: unless it is at work; `now`: also then, in a turn that
   * was cancelled. False if nothing was ended. Absent from an agent without a process of its own.
   */
  readonly release?: (when: 'idle' | 'now') => Promise<boolean>
  /** The process that it has now. Absent from an agent without one of its own. */
  readonly processStatus?: () => Promise<AgentProcessStatus | undefined>
  /** Plays one turn. A throw ends the turn with an error that its client sees. */
  run(turn: Turn): Promise<StopReason>
  /** The session is closed, leaves memory or has another agent. A turn that still runs was cancelled. Idempotent, never throws. */
  close(): Promise<void>
}

export interface AgentCapabilities {
  readonly commands: readonly SlashCommand[]
  /** Modes and options with the values that count until a client sets others. */
  readonly settings: Settings
  /** The values are what the agent works with now: they replace what the session has. */
  readonly isCurrent?: true
}

/** A way to log in to an agent. */
export interface AgentLogin {
  /** As users type it in `parley agents login`: the agent's name, a slash, and the agent's own id of the method. */
  readonly id: string
  readonly name: string
  readonly description?: string
}

export interface PromptKinds {
  readonly image: boolean
  readonly audio: boolean
  readonly embeddedContext: boolean
}

/** One turn as its agent sees it. Everything that the agent says in a turn goes through here, and is stored before a client sees it. */
export interface Turn {
  readonly turnId: string
  readonly sessionId: string
  /** `[cwd, …additionalDirectories]`, absolute. */
  readonly roots: readonly string[]
  /** `agent`: no prompt began this turn, and `prompt` is empty. */
  readonly by: 'prompt' | 'agent'
  readonly prompt: readonly Content[]
  /** The `_meta` of the prompt, such as a trace context. */
  readonly promptMeta?: Meta
  /** Set when the turn continues after a restart: the calls that it waited for. */
  readonly resumed?: Resumption
  readonly signal: Signal
  readonly tools: ToolRegistry
  /** The services of the client that sent the prompt. They are gone once that client has left; no other client replaces it. */
  readonly client: TurnClient
  /** As clients and the agent have set them by now. */
  readonly settings: Settings
  /** Resolves when there is room for more, not when it is stored: a slow disk pauses the agent here. */
  say(content: Content, part?: MessagePart): Promise<void>
  think(content: Content, part?: MessagePart): Promise<void>
  /** The same for texts of one message that came together: each is an entry, as if it had been said by itself. */
  sayAll(role: 'agent' | 'thought', texts: readonly string[]): Promise<void>
  /** Part of a turn that the agent had without Parley: of its prompt or of its answer. `message` numbers the messages. */
  tellOutside(role: 'user' | 'agent', message: number, content: Content): Promise<void>
  plan(entries: readonly PlanEntry[]): Promise<void>
  /** Names the session, unless its user has. */
  title(title: string): Promise<void>
  usage(usage: Usage): Promise<void>
  /** Replaces the slash commands of the session. */
  offerCommands(commands: readonly SlashCommand[]): Promise<void>
  /** Stores an update of an external agent for which Parley has no entry of its own; `protocol` is like `acp/v1`. */
  foreign(protocol: string, update: unknown): Promise<void>
  /** Throws MODE_UNKNOWN. */
  setMode(modeId: string): Promise<void>
  /** Throws CONFIG_OPTION_UNKNOWN and CONFIG_VALUE_UNKNOWN. */
  setConfigOption(configId: string, value: ConfigValue): Promise<void>
  /** Sends a notice to the clients that are attached and can show it, after all earlier messages. Never stored. */
  notify(notice: Notice): Promise<void>
  /** Reports a compaction by its id, which is unique in the session. A patch after its end is dropped. */
  compact(compactionId: string, patch: CompactionPatch): Promise<void>
  /** Adds to the summary of a compaction in progress; the first piece starts the compaction. */
  summarize(compactionId: string, content: Content): Promise<void>
  /** Reports a tool call that the agent runs by itself; the first patch of an id needs a title. */
  report(toolCallId: string, patch: ToolCallPatch): Promise<void>
  /** An id for a tool call that no other call of the session has. */
  newToolCallId(): string
  /**
   * Asks the attached clients for permission and waits, also through a restart: `state` (JSON) comes back in `resumed`.
   * Resolves `cancelled` when the turn is cancelled. Never resolves to an approval unless a user gave one.
   */
  ask(question: Question): Promise<PermissionOutcome>
  /**
   * Stores what the agent needs to rebuild its context, as JSON. No client sees it, a fork copies it. With `reset`, earlier
   * checkpoints are never read again. Resolves with the checkpoint's cursor once it is stored; `soon`: some milliseconds later, or
   * with what the agent says next, which is stored behind it in any case.
   */
  checkpoint(data: unknown, kind?: 'reset', urgency?: 'now' | 'soon'): Promise<Cursor>
  /** The checkpoints of this session after this cursor, in order, from the last reset on. Reads the journal. */
  readCheckpoints(after: Cursor): AsyncIterable<CheckpointEntry>
  /** The text that agents of this session wrote after this cursor, in any turn. Reads the journal. */
  assistantTextAfter(cursor: Cursor): Promise<string>
  /** The prompts after this cursor whose turns a crash ended. Reads the journal, unless this is the first turn. */
  interruptedPromptsAfter(cursor: Cursor): Promise<readonly (readonly Content[])[]>
  /** Which files rules keep from the agent when it reads files by itself, such as instructions. As the rules are now. */
  pathAccess(): Promise<PathAccessFilter>
  /**
   * Runs a tool of the registry: the call is reported, `in_progress` is stored before its first effect, its result is stored.
   * A tool that fails, times out or is unknown is a result with `isError`, never a throw.
   */
  call(request: ToolRequest): Promise<ToolResult>
}

/** The agent's own id of the message: a part with another id begins another message. */
export interface MessagePart {
  readonly messageId?: string | undefined
}

export interface Question {
  readonly toolCallId: string
  /** Applied to the tool call before the question is asked; needs a title if the call is new. */
  readonly patch: ToolCallPatch
  readonly options: readonly PermissionOption[]
  /** State that the agent needs to continue from here after a restart, as JSON. */
  readonly state: unknown
  /**
   * The question lives in another process: it is asked at once beside others that are open, and when this server stops, its
   * turn is interrupted. Absent, questions are asked one after the other, and survive.
   */
  readonly survives?: false
}

export interface ToolRequest {
  /** Its name in the registry. */
  readonly name: string
  readonly args: unknown
  /** The title of a call that needs no question; absent, the tool's own title. */
  readonly title?: string
  readonly toolCallId?: string
  readonly timeoutMs?: number
  /** `policy`: rules, mode and earlier answers decide, and a user where they must. `granted`: the agent has the answer already. */
  readonly permission: 'policy' | 'granted'
  /** State that the agent needs to continue after a restart if a user must be asked, before the call or during it. JSON. */
  readonly resume?: unknown
}

export interface CheckpointEntry {
  readonly cursor: Cursor
  readonly data: unknown
}

export interface Resumption {
  /** The call that a user was asked about, if there was one, then the calls that had begun and wait for input. At least one. */
  readonly calls: readonly ResumedCall[]
  /** The tool calls of this turn that had ended before. */
  readonly ended: readonly string[]
}

export interface ResumedCall {
  readonly toolCallId: string
  /** The `state` or `resume` that `ask` or `call` was given. */
  readonly state: unknown
  /** `begun`: no user is asked; the same call with the same id, `granted`, continues where it stood. */
  readonly outcome: PermissionOutcome | { readonly outcome: 'begun' }
}
