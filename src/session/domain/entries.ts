/**
 * Every fact that a session's journal can hold: a closed union in format 1, and how an entry is stored. `npm run docs` writes
 * `docs/internals/journal.md` from the comments and fields of this file.
 */
import { fail } from '../../errors/parley-error.ts'
import type { AgentSessionRecord, StopReason } from '../../ports/agent.ts'
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
} from '../../ports/values/content.ts'
import type { Grant, GrantSubject } from '../../ports/rules.ts'
import type { ConfigOption, Modes } from '../../ports/values/settings.ts'
import type { ToolInputRequest } from '../../ports/tools.ts'

/** The number of this format. It grows when an older Parley could misread a new entry. */
export const ENTRY_FORMAT = 1

/** How a turn ended: with its agent's stop reason, because the server stopped, or with an error. */
export type TurnEnd = StopReason | 'interrupted' | 'error'

/** A code of the error catalogue and its sentence. */
export interface Failure {
  readonly code: string
  readonly message: string
  /** What programs act on: those of the error, if its row says so. */
  readonly details?: Readonly<Record<string, unknown>>
}

/** `failed`: the client could not ask the user, left, or sent an invalid answer. */
export type ElicitationOutcome = 'accept' | 'decline' | 'cancel' | 'failed'

export interface ForkPoint {
  readonly session: string
  readonly seq: number
}

export type Body =
  /** The session exists. This is the first entry of every journal and occurs only there. */
  | {
      readonly kind: 'session_created'
      /** The format of the entries that follow: 1. */
      readonly format: number
      readonly cwd: string
      readonly additionalDirectories: readonly string[]
      /** The agent's full name: `guide`, `model:PROVIDER:NAME`, `script:/absolute/file`. */
      readonly agent: string
      /** Entries up to this one were imported from a file. Grants ("always") in them do not apply here. */
      readonly imported?: number
    }
  /** A client has opened the session again with these directories. A closed session is open from here on. */
  | {
      readonly kind: 'session_configured'
      readonly additionalDirectories: readonly string[]
      /** The agent that answers from the next turn on; absent when it stays the same. */
      readonly agent?: string
    }
  /** Nothing runs any more. The session can be opened again. */
  | { readonly kind: 'session_closed' }
  /** The prompt will end exactly once: with `turn_ended` or with `prompt_withdrawn`. */
  | {
      readonly kind: 'prompt_accepted'
      readonly promptId: string
      readonly content: readonly Content[]
      /** The directories that the sender declared besides the cwd, for this turn; absent when there are none. */
      readonly additionalDirectories?: readonly string[]
      /** The `_meta` that the sender attached to the prompt, unchanged. */
      readonly meta?: Meta
      /** The name of the client that sent it. */
      readonly by?: string
    }
  /** The prompt is the next one of those that wait. */
  | { readonly kind: 'prompt_promoted'; readonly promptId: string }
  /**
   * The end of a prompt whose turn never began. It is also written for a prompt that never arrived, when its client asks
   * after a lost connection what became of it.
   */
  | { readonly kind: 'prompt_withdrawn'; readonly promptId: string; readonly reason: 'cancelled' | 'interrupted' }
  /** The agent works on the prompt. */
  | {
      readonly kind: 'turn_started'
      readonly turnId: string
      readonly promptId: string
      /** The agent began to work without a prompt; `promptId` is made up then. */
      readonly by?: 'agent'
    }
  /** The server stopped while the turn only waited: for a permission, or for input to tool calls. */
  | { readonly kind: 'turn_suspended'; readonly turnId: string }
  /** A suspended turn continues: the answer has come, or a client that can give the input. */
  | { readonly kind: 'turn_resumed'; readonly turnId: string }
  /** A client has cancelled the turn. Its agent may still report what it has done. */
  | {
      readonly kind: 'turn_cancel_requested'
      readonly turnId: string
      /** The name of the client. */
      readonly by?: string
    }
  /** The end of a turn and of its prompt. */
  | {
      readonly kind: 'turn_ended'
      readonly turnId: string
      readonly promptId: string
      readonly stopReason: TurnEnd
      readonly error?: Failure
      /** The name of the client that has cancelled it. */
      readonly by?: string
    }
  /** A part of a message of the agent, or of its thinking. */
  | {
      readonly kind: 'message_chunk'
      readonly messageId: string
      readonly role: 'agent' | 'thought'
      readonly content: Content
      /** The id that the agent itself gave the message, stored with its first part. */
      readonly agentMessageId?: string
      /** Said in a turn that the agent had without Parley. */
      readonly origin?: 'outside'
    }
  /** A part of the user's message. It follows `turn_started`. */
  | {
      readonly kind: 'message_chunk'
      readonly messageId: string
      readonly role: 'user'
      readonly promptId: string
      readonly content: Content
      /** The `_meta` of the prompt as a whole, stored with its first part. */
      readonly meta?: Meta
      /** The name of the client that sent the prompt. */
      readonly by?: string
      /** Asked in a turn that the agent had without Parley; `promptId` is made up then. */
      readonly origin?: 'outside'
    }
  /** A new tool call. */
  | {
      readonly kind: 'tool_call'
      readonly toolCallId: string
      readonly call: ToolCallPatch & { readonly title: string }
    }
  /** A change to a tool call. */
  | { readonly kind: 'tool_call_patched'; readonly toolCallId: string; readonly patch: ToolCallPatch }
  /** The whole plan of the agent; it replaces the plan before. */
  | { readonly kind: 'plan'; readonly entries: readonly PlanEntry[] }
  /** A tool call waits for the user's permission. */
  | {
      readonly kind: 'permission_requested'
      readonly requestId: string
      readonly toolCallId: string
      /** The call as it is now, for a client that has not seen it. */
      readonly call: ToolCallPatch
      readonly options: readonly PermissionOption[]
      /** The grant that an "always" or "never" would store; absent where no such answer is offered. */
      readonly grant?: GrantSubject
      /** State that the agent needs to continue here after a restart. */
      readonly resume: unknown
      /** The question ends with the process that asked it, and its turn with it. */
      readonly survives?: false
    }
  /** The question is answered, or no longer asked. */
  | {
      readonly kind: 'permission_resolved'
      readonly requestId: string
      readonly outcome: PermissionOutcome
      /** The name of the client that answered, as it calls itself. */
      readonly by?: string
    }
  /** The user has taken back what was always or never allowed in this session. No client is sent this. */
  | { readonly kind: 'permission_revoked'; readonly grant: Grant }
  /** The user is asked to fill in a form or to open a page. Neither the question nor the answer is stored. */
  | {
      readonly kind: 'elicitation_requested'
      readonly elicitationId: string
      readonly mode: 'form' | 'url'
      readonly toolCallId?: string
    }
  /** The form or page is done with. */
  | { readonly kind: 'elicitation_resolved'; readonly elicitationId: string; readonly outcome: ElicitationOutcome }
  /** The MCP server of a running call wants input before it continues. Nothing of the call runs meanwhile. No client is sent this. */
  | {
      readonly kind: 'tool_input_requested'
      readonly toolCallId: string
      /** The questions, and the state that goes back to the server with the answers; null in an exported file. */
      readonly input: ToolInputRequest | null
      /** State that the agent needs to continue here after a restart. */
      readonly resume: unknown
    }
  /** The server's questions are answered; the answers are not stored. From here on the call may have run. */
  | { readonly kind: 'tool_input_resolved'; readonly toolCallId: string }
  /** A sentence that the server itself adds to the conversation. */
  | { readonly kind: 'notice'; readonly text: string }
  /** The name of the session. An agent does not change a name that a user gave. */
  | { readonly kind: 'title'; readonly title: string; readonly by?: 'user' }
  /** The entries before this one are a copy of another session's entries up to `seq`. */
  | { readonly kind: 'forked_from'; readonly from: ForkPoint }
  /** The slash commands that a user may type. */
  | {
      readonly kind: 'commands'
      readonly commands: readonly SlashCommand[]
      /** The agent changed them in a turn; they hold until it offers others to all its sessions. */
      readonly by?: 'agent'
    }
  /** The modes that the agent offers, and the current one; null for an agent without modes. */
  | { readonly kind: 'modes'; readonly modes: Modes | null }
  /** Another mode is current. */
  | { readonly kind: 'mode'; readonly modeId: string }
  /** All options with their values, whenever one has changed. */
  | { readonly kind: 'config_options'; readonly configOptions: readonly ConfigOption[] }
  /**
   * An update of an external agent in its own protocol that no other entry can express. It is passed on unchanged to
   * clients that speak that protocol.
   */
  | {
      readonly kind: 'foreign'
      /** `acp/v1`, for example. */
      readonly protocol: string
      readonly update: unknown
    }
  /** The agent of another process opened its own conversation for this session. It is not sent to clients. */
  | {
      readonly kind: 'agent_session'
      /** 1, 2, 3 …: each is another conversation in the agent's own store. */
      readonly generation: number
      /** The agent's full name: `acp:NAME`. */
      readonly agent: string
      readonly version: string
      /** The id under which the agent itself knows the session. */
      readonly agentSessionId: string
      /** A new conversation, its own one reopened, or a new one that got what came before. */
      readonly how: AgentSessionRecord['how']
      /** What the agent can do with it, such as `load` and `resume`. */
      readonly caps: readonly string[]
      readonly cwd: string
      readonly roots: readonly string[]
      /** What came before this entry is not in the agent's own conversation. */
      readonly upTo: number
      /** What came before `upTo` is its system prompt, of at most so many bytes. */
      readonly primedBytes?: number
      /** MCP servers and directories of the session that the agent cannot use. */
      readonly leftOut?: readonly string[]
    }
  /** How full the agent's context is. */
  | { readonly kind: 'usage'; readonly usage: Usage }
  /** State that the agent needs to rebuild its context, in a form that only the agent reads. It is not sent to clients. */
  | {
      readonly kind: 'agent_checkpoint'
      readonly data: unknown
      /** The agent does not need the checkpoints before this one any more. */
      readonly reset?: true
    }
  /** A compaction of the agent's context. The first entry of an id fixes its place in the conversation; later ones change it. */
  | { readonly kind: 'compaction'; readonly compactionId: string; readonly patch: CompactionPatch }
  /** A further part of a compaction's summary. */
  | { readonly kind: 'compaction_summary'; readonly compactionId: string; readonly content: Content }

/** The entries that begin a turn: its number, and the user's prompt as its first message. */
export function beginTurn(number: number, { promptId, content, meta, by }: UserPrompt): readonly Body[] {
  const turnId = `t${number}`
  const messageId = `${turnId}-user`
  return [
    { kind: 'turn_started', turnId, promptId },
    ...content.map((content, at): Body => {
      const attached = at === 0 && meta !== undefined ? { meta } : {}
      return { kind: 'message_chunk', role: 'user', messageId, promptId, content, ...attached, ...(by && { by }) }
    }),
  ]
}

interface UserPrompt {
  readonly promptId: string
  readonly content: readonly Content[]
  readonly meta?: Meta
  readonly by?: string
}

/** A fact with its place and time: `seq` is 1, 2, 3 … without gaps, `at` is milliseconds since 1970. */
export type Entry = Body & { readonly seq: number; readonly at: number }

/** Whether the entry is the one end of a prompt. */
export function isEnd(entry: Entry): entry is Entry & { readonly kind: 'turn_ended' | 'prompt_withdrawn' } {
  return entry.kind === 'turn_ended' || entry.kind === 'prompt_withdrawn'
}

/** Nearly every entry is a part of bare text; stored as three strings it takes a fraction of the space. */
type ShortChunk = readonly [role: 'agent' | 'thought', messageId: string, text: string]

/** The stored form of a body: JSON, an array for a chunk of bare text and an object for everything else. */
export function encodeBody(body: Body): string {
  return encodeShort(body) ?? JSON.stringify(body)
}

/** Reads a stored entry back. Throws JOURNAL_CORRUPT for one that `encodeBody` did not write. */
export function decodeEntry({ seq, at, body: stored }: StoredBody): Entry {
  const body = parseStored(stored, seq)
  if (isShort(body)) {
    const [role, messageId, text] = body
    return { seq, at, kind: 'message_chunk', role, messageId, content: { type: 'text', text } }
  }
  if (!Object.hasOwn(KINDS, body.kind)) return failCorrupt(`entry ${seq} has no known kind`)
  return { seq, at, ...body }
}

interface StoredBody {
  readonly seq: number
  readonly at: number
  readonly body: string
}

/** For an entry that does not follow the one before it. Stored entries have no gaps, so the file is damaged. */
export function refuseGap(
  { id, seq }: { readonly id: string; readonly seq: number },
  entry: { readonly seq: number; readonly kind: string },
): never {
  return failCorrupt(`session ${id} goes from entry ${seq} to ${entry.seq} (${entry.kind})`)
}

function parseStored(stored: string, seq: number): Body | ShortChunk {
  try {
    return JSON.parse(stored) as Body | ShortChunk
  } catch (error) {
    return failCorrupt(`entry ${seq} is not JSON`, error)
  }
}

function failCorrupt(reason: string, cause?: unknown): never {
  return fail('JOURNAL_CORRUPT', { path: 'of the sessions', reason }, cause)
}

/** The compiler asks for every kind of the union. */
const KINDS: Readonly<Record<Body['kind'], true>> = {
  session_created: true,
  session_configured: true,
  session_closed: true,
  prompt_accepted: true,
  prompt_promoted: true,
  prompt_withdrawn: true,
  turn_started: true,
  turn_suspended: true,
  turn_resumed: true,
  turn_cancel_requested: true,
  turn_ended: true,
  message_chunk: true,
  tool_call: true,
  tool_call_patched: true,
  plan: true,
  permission_requested: true,
  permission_resolved: true,
  permission_revoked: true,
  elicitation_requested: true,
  elicitation_resolved: true,
  tool_input_requested: true,
  tool_input_resolved: true,
  notice: true,
  title: true,
  forked_from: true,
  commands: true,
  modes: true,
  mode: true,
  config_options: true,
  foreign: true,
  agent_session: true,
  usage: true,
  agent_checkpoint: true,
  compaction: true,
  compaction_summary: true,
}

/** The JSON of a `ShortChunk`. To have the array written would take twice as long. */
function encodeShort(body: Body): string | undefined {
  if (body.kind !== 'message_chunk' || body.role === 'user') return undefined
  const { role, messageId, content, agentMessageId, origin } = body
  if (agentMessageId !== undefined || origin !== undefined) return undefined
  const isBare = content.type === 'text' && content.annotations === undefined && content.meta === undefined
  return isBare ? `${headOf(role, messageId)}${JSON.stringify(content.text)}]` : undefined
}

/** How the entries of one message begin, which follow each other. */
let lastHead = { role: '', messageId: '', json: '' }

function headOf(role: ShortChunk[0], messageId: string): string {
  if (lastHead.messageId !== messageId || lastHead.role !== role)
    lastHead = { role, messageId, json: `["${role}",${JSON.stringify(messageId)},` }
  return lastHead.json
}

function isShort(body: Body | ShortChunk): body is ShortChunk {
  return Array.isArray(body)
}
