/** The facts that a session's journal holds: a closed union, one format version, documented in `docs/internals/journal.md`. */
import type {
  CompactionPatch,
  Content,
  Meta,
  PermissionOption,
  PermissionOutcome,
  PlanEntry,
  SlashCommand,
  ToolCallPatch,
  Usage,
} from '../../ports/content.ts'
import type { ConfigOption, Modes } from '../../ports/settings.ts'
import type { StopReason } from '../../ports/agent.ts'
import type { Grant, GrantSubject } from '../../ports/rules.ts'
import type { ToolInputRequest } from '../../ports/tools.ts'

/** Raised when an old reader could misread a new entry. */
export const ENTRY_FORMAT = 1

/** How a turn can end: as its agent says, or because the server stopped, or with an error. */
export type TurnEnd = StopReason | 'interrupted' | 'error'

/** What a client is told of a failure: a code of the catalogue and its sentence. */
export interface Failure {
  readonly code: string
  readonly message: string
}

/** `failed`: the client could not ask, left, or answered something else. */
export type ElicitationOutcome = 'accept' | 'decline' | 'cancel' | 'failed'

export interface ForkPoint {
  readonly session: string
  readonly seq: number
}

export type Body =
  | {
      readonly kind: 'session_created'
      readonly format: number
      readonly cwd: string
      readonly additionalDirectories: readonly string[]
      /** Its full name: `guide`, `script:/absolute/file`. */
      readonly agent: string
      /** The entries up to here were brought in from a file: what was always allowed there was allowed elsewhere. */
      readonly imported?: number
    }
  /** Opened again: with these directories, and no longer closed. An agent that is named answers from the next turn on. */
  | {
      readonly kind: 'session_configured'
      readonly additionalDirectories: readonly string[]
      readonly agent?: string
    }
  | { readonly kind: 'session_closed' }
  | {
      readonly kind: 'prompt_accepted'
      readonly promptId: string
      readonly content: readonly Content[]
      /** What its sender declared besides the cwd, for its turn; absent when that is nothing. */
      readonly additionalDirectories?: readonly string[]
      /** What its sender attached to it, as it was given. */
      readonly meta?: Meta
    }
  | { readonly kind: 'prompt_withdrawn'; readonly promptId: string; readonly reason: 'cancelled' | 'interrupted' }
  | { readonly kind: 'turn_started'; readonly turnId: string; readonly promptId: string }
  /** The server stopped while the turn did nothing but wait for answers. */
  | { readonly kind: 'turn_suspended'; readonly turnId: string }
  | { readonly kind: 'turn_resumed'; readonly turnId: string }
  | { readonly kind: 'turn_cancel_requested'; readonly turnId: string }
  | {
      readonly kind: 'turn_ended'
      readonly turnId: string
      readonly promptId: string
      readonly stopReason: TurnEnd
      readonly error?: Failure
    }
  | {
      readonly kind: 'message_chunk'
      readonly messageId: string
      readonly role: 'agent' | 'thought'
      readonly content: Content
    }
  | {
      readonly kind: 'message_chunk'
      readonly messageId: string
      readonly role: 'user'
      readonly promptId: string
      readonly content: Content
      /** What was attached to the prompt as a whole, at its first piece. */
      readonly meta?: Meta
    }
  /** The first that is heard of a tool call; `call` has a title. */
  | {
      readonly kind: 'tool_call'
      readonly toolCallId: string
      readonly call: ToolCallPatch & { readonly title: string }
    }
  | { readonly kind: 'tool_call_patched'; readonly toolCallId: string; readonly patch: ToolCallPatch }
  | { readonly kind: 'plan'; readonly entries: readonly PlanEntry[] }
  | {
      readonly kind: 'permission_requested'
      readonly requestId: string
      readonly toolCallId: string
      /** What is asked about, for a client that has not heard of the call. */
      readonly call: ToolCallPatch
      readonly options: readonly PermissionOption[]
      /** What an "always" or "never" is kept for; absent where it cannot be answered for good. */
      readonly grant?: GrantSubject
      /** What the agent needs to go on from here after a restart. */
      readonly resume: unknown
    }
  | {
      readonly kind: 'permission_resolved'
      readonly requestId: string
      readonly outcome: PermissionOutcome
      /** The client that it came from, as it calls itself. */
      readonly by?: string
    }
  /** The user has taken back what was always or never allowed in this session; no client is sent this. */
  | { readonly kind: 'permission_revoked'; readonly grant: Grant }
  /** A person is asked for something; what is asked and what comes back is between the agent and its client. */
  | {
      readonly kind: 'elicitation_requested'
      readonly elicitationId: string
      readonly mode: 'form' | 'url'
      readonly toolCallId?: string
    }
  | { readonly kind: 'elicitation_resolved'; readonly elicitationId: string; readonly outcome: ElicitationOutcome }
  /** The server of a call that has begun wants input before it goes on; nothing of the call runs meanwhile. */
  | {
      readonly kind: 'tool_input_requested'
      readonly toolCallId: string
      /** Told to nobody; null in what was exported: there the call can be read of and not gone on with. */
      readonly input: ToolInputRequest | null
      /** What the agent needs to go on from here after a restart. */
      readonly resume: unknown
    }
  /** It has what it wanted, which is not stored, and is about to go on. */
  | { readonly kind: 'tool_input_resolved'; readonly toolCallId: string }
  /** Something that whoever reads the conversation should know, said by the server itself. */
  | { readonly kind: 'notice'; readonly text: string }
  /** A name that a person gave is not changed by an agent. */
  | { readonly kind: 'title'; readonly title: string; readonly by?: 'user' }
  /** What stands before this is a copy of another session's entries up to there. */
  | { readonly kind: 'forked_from'; readonly from: ForkPoint }
  /** What its agent offers; `by` the agent itself in a turn, which holds until the agent offers something else. */
  | { readonly kind: 'commands'; readonly commands: readonly SlashCommand[]; readonly by?: 'agent' }
  /** What its agent offers, and which one is current. */
  | { readonly kind: 'modes'; readonly modes: Modes | null }
  | { readonly kind: 'mode'; readonly modeId: string }
  /** All of them with their current values, whenever one has changed. */
  | { readonly kind: 'config_options'; readonly configOptions: readonly ConfigOption[] }
  /**
   * What an external agent said in its own protocol and the core has no entry for. It is kept and passed on as it came, to
   * clients that speak that protocol.
   */
  | { readonly kind: 'foreign'; readonly protocol: string; readonly update: unknown }
  | { readonly kind: 'usage'; readonly usage: Usage }
  /** What the agent needs to rebuild its context; told to nobody. One with `reset` makes those before it obsolete. */
  | { readonly kind: 'agent_checkpoint'; readonly data: unknown; readonly reset?: true }
  /** A compaction of the agent's context: the first fixes its place, the others patch it. */
  | { readonly kind: 'compaction'; readonly compactionId: string; readonly patch: CompactionPatch }
  | { readonly kind: 'compaction_summary'; readonly compactionId: string; readonly content: Content }

/** A fact with its place and time: `seq` is 1, 2, 3 … without holes, `at` is milliseconds since 1970. */
export type Entry = Body & { readonly seq: number; readonly at: number }

/** Nearly every entry is a piece of bare text; stored as three words it takes a fraction of the room. */
type ShortChunk = readonly [role: 'agent' | 'thought', messageId: string, text: string]

/** The stored form of a body: JSON, an array for a chunk of bare text and an object for everything else. */
export function encodeBody(body: Body): string {
  return JSON.stringify(shortened(body) ?? body)
}

/** Reads a stored entry back. Bodies were written by `encodeBody`, so their shape is trusted. */
export function decodeEntry(stored: { readonly seq: number; readonly at: number; readonly body: string }): Entry {
  const { seq, at } = stored
  const body = JSON.parse(stored.body) as Body | ShortChunk
  if (!isShort(body)) return { ...body, seq, at }
  const [role, messageId, text] = body
  return { kind: 'message_chunk', role, messageId, content: { type: 'text', text }, seq, at }
}

function shortened(body: Body): ShortChunk | undefined {
  if (body.kind !== 'message_chunk' || body.role === 'user') return undefined
  const { role, messageId, content } = body
  const isBare = content.type === 'text' && content.annotations === undefined && content.meta === undefined
  return isBare ? [role, messageId, content.text] : undefined
}

function isShort(body: Body | ShortChunk): body is ShortChunk {
  return Array.isArray(body)
}
