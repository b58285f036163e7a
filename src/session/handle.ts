/**
 * All that the edge knows of sessions: a directory of them, a handle on each, and what a session pushes to its subscribers.
 *
 * The edge imports nothing else from this folder except the types of `domain/`, so that a session may run in another process
 * behind the same handle. Hence answers are promises and everything else is pushed: no method here returns the state of a
 * live session synchronously. In one process `SessionRegistry`, `Session` and `Subscription` implement these interfaces.
 *
 * How the edge uses it: `open` or `create`, then `subscribe` with a cursor, then `replay` (a load) or nothing (a resume), then
 * `goLive`. From then on each push of entries carries the `SessionView` that holds after them; a view is all that open
 * questions, answers of prompts and notifications are computed from.
 */
import type { AgentActivity, AgentProcessStatus, ClientVariables, PromptKinds } from '../ports/agent.ts'
import type { ClientPeer } from '../ports/client-peer.ts'
import type { Content, Meta, Notice, PermissionOutcome, SlashCommand, Usage } from '../ports/values/content.ts'
import type { Cursor, ListQuery, SessionChange, SessionId, SessionSummary } from '../ports/journal.ts'
import type { Grant } from '../ports/rules.ts'
import type { Settings } from '../ports/values/settings.ts'
import type { Signal } from '../ports/values/signal.ts'
import type { McpServer, ServerStatus } from '../ports/tools.ts'
import type { Command } from './domain/commands.ts'
import type { Entry } from './domain/entries.ts'
import type { EndedPrompt, Existing, OpenQuestion, QueuedPrompt } from './domain/state.ts'
import type { ExportPage } from './lifecycle/export-session.ts'
import type { OutlinePrompt } from './log/find-entries.ts'
import type { PageQuery, SessionPage } from './log/read-page.ts'

export type { SessionPage }

/** All sessions that clients may reach. Methods that change a session throw SERVER_STOPPING once the server stops. */
export interface SessionDirectory {
  /** Throws what keeps its agent from being opened; nothing is stored then. */
  create(config: SessionConfig): Promise<SessionHandle>
  /** Throws SESSION_NOT_FOUND, SESSION_CWD_DIFFERS, SERVERS_TOO_MANY, and what keeps a newly named agent from being opened. */
  open(id: SessionId, config: SessionConfig): Promise<SessionHandle>
  /** The id of a new session that begins as a copy up to `at`. Throws SESSION_NOT_FOUND and FORK_POINT_UNKNOWN. */
  fork(id: SessionId, at?: Cursor): Promise<SessionId>
  list(query: ListQuery): Promise<readonly SessionSummary[]>
  find(id: SessionId): Promise<SessionSummary | undefined>
  /** A part of the conversation, without opening the session. Throws SESSION_NOT_FOUND. */
  page(id: SessionId, query: PageQuery): Promise<SessionPage>
  /** Lines of an export, from the entry after `after` on; entries beyond `upTo` are left out. Throws SESSION_NOT_FOUND. */
  exportPage(id: SessionId, range: { readonly after: Cursor; readonly upTo?: Cursor }): Promise<ExportPage>
  /** All prompts, the first one first. Throws SESSION_NOT_FOUND. */
  outline(id: SessionId): Promise<readonly OutlinePrompt[]>
  /**
   * Answers an open permission request, without attaching a client. A session that is not in memory is opened for it, and a
   * suspended turn continues. Throws SESSION_NOT_FOUND, PERMISSION_UNKNOWN, PERMISSION_OPTION_UNKNOWN.
   */
  answer(id: SessionId, answer: OutsideAnswer): Promise<CountedAnswer>
  /**
   * Takes back a prompt that waits, or makes it the next one. False if it does not wait; true if that was done before, for a
   * client that lost its connection and asks again. Throws SESSION_NOT_FOUND.
   */
  changeQueue(id: SessionId, change: QueueChange): Promise<boolean>
  /** Throws SESSION_NOT_FOUND and TITLE_INVALID. */
  rename(id: SessionId, title: string): Promise<void>
  /** Takes back an answer that was given for all later calls. Throws SESSION_NOT_FOUND. */
  revoke(id: SessionId, grant: Grant): Promise<void>
  /**
   * Ends the process of an external agent, which the next prompt starts anew. `idle`: unless it is at work; `now`: also in the
   * middle of a turn, which is cancelled. False if nothing was ended. Throws SESSION_NOT_FOUND.
   */
  releaseAgent(id: SessionId, when: 'idle' | 'now'): Promise<boolean>
  /** Interrupts what runs and frees what the session holds; it stays stored. Throws SESSION_NOT_FOUND. */
  close(id: SessionId): Promise<void>
  /** Deletes the session; resolves for one that does not exist. */
  delete(id: SessionId): Promise<void>
  /** Calls `listener` with each change in the list of sessions, once it is stored. Returns how to stop that. */
  watch(listener: (change: SessionChange) => void): () => void
  /**
   * Calls `listener` with each session that is opened and was not live before, so that subscribers of an earlier handle on
   * it can subscribe again. Returns how to stop that.
   */
  whenOpened(listener: (session: SessionHandle) => void): () => void
}

export interface OutsideAnswer {
  readonly requestId: string
  readonly optionId: string
  readonly by: string
}

/** `counted`: it was this answer. Else `outcome` is the answer that was first, by `by`. */
export interface CountedAnswer {
  readonly counted: boolean
  readonly outcome: PermissionOutcome
  readonly by?: string
}

/** Commands about a prompt that waits. */
export type QueueChange = Extract<Command, { readonly kind: 'withdraw_waiting' | 'promote' }>

/** The configuration that a client sends when it opens a session. */
export interface SessionConfig {
  /** As the client gave it. */
  readonly cwd: string
  readonly additionalDirectories: readonly string[]
  readonly mcpServers: readonly McpServer[]
  /** The full name of the agent of the next turn; absent: the session keeps its agent. */
  readonly agent?: string | undefined
  /** The client's own variables for model providers; absent where it has none. */
  readonly variables?: ClientVariables | undefined
  /** The subscription of the same client that the next one replaces: its MCP servers do not count against the limit. */
  readonly replaces?: object | undefined
}

/**
 * MCP servers that the clients of one session may configure together: ten times the usual number, and as many processes as
 * a machine can run.
 */
export const MAX_SESSION_SERVERS = 100

export interface SessionHandle {
  readonly id: SessionId
  /** Aborted once this handle is of no more use: the session was closed, shut down, or taken over by another server. */
  readonly closed: Signal
  /** The session as it is when the request reaches it; also of one that is closed. */
  snapshot(): Promise<SessionView>
  /** The number of the turn that the entry after `cursor` belongs to; 0 before the first turn. */
  turnAt(cursor: Cursor): Promise<number>
  /** The kinds of prompt content that the session's agent takes besides text and links. */
  promptKinds(): Promise<PromptKinds>
  /**
   * Attaches a client after the entry `from`; `head` is the last entry. No entries are pushed before `replay` or `goLive`; the
   * other pushes may come before this resolves. Throws SESSION_CLOSED.
   */
  subscribe(from: Cursor | 'head', sink: SessionSink, options: SubscribeOptions): Promise<SessionSubscription>
  /** Resolves with the entries of the command once they are stored and pushed. Throws SESSION_CLOSED and refusals. */
  dispatch(command: ClientCommand): Promise<readonly Entry[]>
  /** Call it when the session was opened with this config and `subscribe` will not follow: its MCP servers are no longer needed. */
  releaseConfig(config: SessionConfig): void
}

/** The commands that a client may give apart from prompts, which belong to a subscription. */
export type ClientCommand = Extract<
  Command,
  {
    readonly kind:
      | 'answer'
      | 'cancel'
      | 'withdraw'
      | 'notice'
      | 'set_mode'
      | 'set_config_option'
      | 'reject_unknown_prompts'
  }
>

export interface SubscribeOptions {
  /** The prompts of this client run with these directories, and the session has these MCP servers while it is attached. */
  readonly config: SessionConfig
  readonly client: SubscribedClient
  /** The files, terminals and user of the client, for the turns of its prompts. */
  readonly peer?: ClientPeer
}

/** A program at the other end, as it calls itself. */
export interface SubscribedClient {
  readonly name: string
  readonly title?: string
  readonly version?: string
  /** The author's name that prompts and answers of this client are stored with; absent: none. */
  readonly author?: string
}

/** One client's part in a session, from `subscribe` to `end`. */
export interface SessionSubscription {
  /** The last `seq` that the sink has taken. */
  readonly cursor: Cursor
  /** The session as it was when the client subscribed. */
  readonly opened: SessionView
  /** Pushes the entries up to the last one that is stored now, adjacent chunks merged. Resolves with the view that holds there. */
  replay(): Promise<SessionView>
  /** Resolves when the sink has the last entry; from then on entries are pushed as they are stored. */
  goLive(): Promise<void>
  /**
   * Resolves once the prompt is stored. `ended`: a prompt of this id has run before, and `recentPrompts` of a view holds
   * how it ended. Throws SESSION_CLOSED and refusals.
   */
  prompt(prompt: ClientPrompt): Promise<'open' | 'ended'>
  /** The client waits for these prompts, which it sent over an earlier connection. */
  adoptPrompts(promptIds: readonly string[]): void
  /**
   * The client's answer to this open question. Where it has none, the answer is no once no attached client is left that may give one.
   * For a suspended turn an answer that cannot be stored is tried again. Throws PERMISSION_UNKNOWN and SESSION_CLOSED.
   */
  answer(requestId: string, answer: ClientAnswer): Promise<void>
  /** Replaces the directories and MCP servers that this client declared. Throws SERVERS_TOO_MANY. */
  setConfig(config: SessionConfig): void
  /** The client detaches; nothing is pushed any more. Idempotent. */
  end(): void
}

/** The option that the client chose; without one it declines, and `why` is what the user should read about that. */
export interface ClientAnswer {
  readonly optionId?: string
  readonly why?: string
}

export interface ClientPrompt {
  readonly promptId: string
  readonly content: readonly Content[]
  readonly meta?: Meta | undefined
}

/** One client's connection as its session sees it. */
export interface SessionSink {
  /** Never waits. When it throws, the subscription ends, so that the client resumes from its cursor and misses nothing. */
  push(push: SessionPush): void
  /** True when the client has more to read than it should: entries are then left in the journal until `drained`. */
  isBackpressured(): boolean
  drained(): Promise<void>
  /** `push` has thrown this error and the subscription is over. */
  cutOff(error: unknown): void
}

export type SessionPush =
  /**
   * Entries in order, and the view that holds after them. `view` is undefined while the client is behind: there are later
   * entries that it has not got, so no view is true for it. `entries` is empty when only that has changed.
   */
  | { readonly kind: 'entries'; readonly entries: readonly Entry[]; readonly view: SessionView | undefined }
  /** All clients that are attached, in the order in which they came. */
  | { readonly kind: 'presence'; readonly clients: readonly PresentClient[] }
  /** The MCP servers that the turns of this client's prompts have. */
  | { readonly kind: 'mcp'; readonly servers: readonly ServerStatus[] }
  /** Why nothing is to be seen of the agent; undefined where nothing is to be explained. */
  | { readonly kind: 'agent'; readonly activity: AgentActivity | undefined }
  | { readonly kind: 'notice'; readonly notice: Notice }
  /** The turn has lost what could not be stored, or the journal could not be read for long. `view` is the session after that: prompts that are not in it are lost. */
  | { readonly kind: 'failed'; readonly error: unknown; readonly view: SessionView }
  /** A client closed or deleted the session, or another server took it over (`closed`). */
  | { readonly kind: 'ended'; readonly how: 'closed' | 'deleted' }

export interface PresentClient extends SubscribedClient {
  /** It is the client to which this is pushed. */
  readonly isYou: boolean
}

/**
 * The part of a session's state after the entry `seq` that the edge needs. Immutable, and small enough to be sent with
 * every batch.
 */
export interface SessionView {
  readonly id: SessionId
  readonly seq: Cursor
  readonly phase: Existing['phase']
  readonly agent: string
  readonly title: string | null
  readonly commands: readonly SlashCommand[]
  readonly usage: Usage | null
  readonly settings: Settings
  /** The open turn, if there is one. */
  readonly turn: { readonly turnId: string; readonly promptId: string } | null
  /** How many turns have begun so far. */
  readonly turns: number
  /** The prompts that wait for it to end. */
  readonly queue: readonly QueuedPrompt[]
  /** The permissions that no client has answered yet, in the order in which they were asked. */
  readonly questions: readonly OpenQuestion[]
  /** The latest prompts that ended and how. */
  readonly recentPrompts: readonly EndedPrompt[]
}

/** True while a turn of this prompt runs, or the prompt waits for one. */
export function isOpenIn({ turn, queue }: SessionView, promptId: string): boolean {
  return turn?.promptId === promptId || queue.some((queued) => queued.promptId === promptId)
}

/** The process of an agent, with its session. */
export interface SessionProcess extends AgentProcessStatus {
  readonly sessionId: SessionId
}
