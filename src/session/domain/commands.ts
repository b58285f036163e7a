/** Every command that a session takes. Ids are random and therefore come with the command, so that `decide` stays pure. */
import type { AgentCapabilities, AgentSessionRecord, AgentUpdate, StopReason } from '../../ports/agent.ts'
import type {
  CompactionPatch,
  Content,
  Meta,
  PermissionOption,
  PlanEntry,
  SlashCommand,
  ToolCallPatch,
} from '../../ports/values/content.ts'
import type { ConfigValue } from '../../ports/values/settings.ts'
import type { Grant, GrantSubject } from '../../ports/rules.ts'
import type { ToolInputRequest } from '../../ports/tools.ts'
import type { ElicitationOutcome, Failure } from './entries.ts'

export type Command =
  | {
      readonly kind: 'create'
      readonly cwd: string
      readonly additionalDirectories: readonly string[]
      readonly agent: string
    }
  /** Opens it again, with these directories, and from the next turn on with this agent if one is named. */
  | { readonly kind: 'configure'; readonly additionalDirectories: readonly string[]; readonly agent?: string }
  | {
      readonly kind: 'prompt'
      readonly promptId: string
      readonly content: readonly Content[]
      /** The directories that the sender declared besides the cwd. */
      readonly additionalDirectories?: readonly string[]
      readonly meta?: Meta
      /** The name of the client that sends it. */
      readonly by?: string
    }
  /** Ends the running turn, and withdraws those of `queued` that still wait. */
  | {
      readonly kind: 'cancel'
      readonly queued: readonly string[]
      /** The name of the client that stops it. */
      readonly by?: string
    }
  /** Takes back a prompt that waits; one that runs is cancelled. */
  | { readonly kind: 'withdraw'; readonly promptId: string; readonly by?: string }
  /** The same, and nothing happens to one that runs. */
  | { readonly kind: 'withdraw_waiting'; readonly promptId: string; readonly by?: string }
  /** A prompt that waits becomes the next one; with `now` the turn that runs is cancelled for it. */
  | { readonly kind: 'promote'; readonly promptId: string; readonly now?: boolean; readonly by?: string }
  /** Their client has lost its connection and asks for their ends: those that never came have none, even if they still come. */
  | { readonly kind: 'reject_unknown_prompts'; readonly promptIds: readonly string[] }
  /** The same one as the last is left out, unless it says what has happened `again`. */
  | { readonly kind: 'notice'; readonly text: string; readonly again?: 'again' | undefined }
  /** The answer to a permission question. `why` becomes a notice in the conversation. */
  | {
      readonly kind: 'answer'
      readonly requestId: string
      readonly optionId: string | null
      readonly why?: string
      /** The client that it came from, as it calls itself. */
      readonly by?: string
    }
  /** A client has come that can give the input for which the calls of a suspended turn wait. */
  | { readonly kind: 'resume_paused' }
  /** Takes back what the user has always or never allowed in this session: the next such call is asked about again. */
  | { readonly kind: 'revoke'; readonly grant: Grant }
  | { readonly kind: 'rename'; readonly title: string }
  /** The session is a copy of `session` up to here, and independent of it from now on. */
  | { readonly kind: 'fork'; readonly session: string }
  | { readonly kind: 'close' }
  /** No effect once the session has another agent than the one named here. */
  | ({ readonly kind: 'set_agent_capabilities'; readonly agent: string } & AgentCapabilities)
  /** The agent of this name says something outside its turns, or late in this one. No effect once the session has another agent. */
  | { readonly kind: 'agent_update'; readonly agent: string; readonly update: AgentUpdate; readonly turnId?: string }
  /** The agent of this name knows the session under an id of its own. */
  | { readonly kind: 'remember_agent_session'; readonly record: AgentSessionRecord }
  /** The agent of this name works although no prompt asked it to. No effect while a turn is open. */
  | { readonly kind: 'begin_agent_turn'; readonly agent: string }
  /** The slash commands of this agent have changed because the tools of the session have. */
  | { readonly kind: 'refresh_commands'; readonly agent: string; readonly commands: readonly SlashCommand[] }
  | { readonly kind: 'set_mode'; readonly modeId: string }
  | { readonly kind: 'set_config_option'; readonly configId: string; readonly value: ConfigValue }
  | { readonly kind: 'agent'; readonly turnId: string; readonly event: AgentEvent }
  | { readonly kind: 'ask'; readonly turnId: string; readonly requestId: string; readonly ask: Ask }
  | {
      readonly kind: 'end'
      readonly turnId: string
      readonly stopReason: StopReason | 'error'
      readonly error?: Failure
    }
  /** The server stops or has just started, or the session leaves memory: whatever was running no longer runs. */
  | { readonly kind: 'halt' }

/** An event of an agent. */
export type AgentEvent =
  | AgentUpdate
  /** Texts of one message, each a chunk by itself. */
  | { readonly kind: 'chunks'; readonly role: 'agent' | 'thought'; readonly texts: readonly string[] }
  | { readonly kind: 'plan'; readonly entries: readonly PlanEntry[] }
  /** Part of a message of a turn that the agent had without Parley. */
  | {
      readonly kind: 'outside_chunk'
      readonly role: 'user' | 'agent'
      readonly message: number
      readonly content: Content
    }
  | { readonly kind: 'compaction'; readonly compactionId: string; readonly patch: CompactionPatch }
  | { readonly kind: 'compaction_summary'; readonly compactionId: string; readonly content: Content }
  /** The user is asked to fill in a form or to open a page. */
  | {
      readonly kind: 'elicitation'
      readonly elicitationId: string
      readonly mode: 'form' | 'url'
      readonly toolCallId?: string
    }
  | { readonly kind: 'elicited'; readonly elicitationId: string; readonly outcome: ElicitationOutcome }
  /** The MCP server of a call wants input before it continues. */
  | {
      readonly kind: 'tool_input_requested'
      readonly toolCallId: string
      readonly input: ToolInputRequest
      readonly resume: unknown
    }
  | { readonly kind: 'tool_input_resolved'; readonly toolCallId: string }
  | { readonly kind: 'checkpoint'; readonly data: unknown; readonly reset?: true }
  /** Stores nothing. It only resolves after all earlier commands. */
  | { readonly kind: 'flush' }

export interface Ask {
  readonly toolCallId: string
  readonly patch: ToolCallPatch
  readonly options: readonly PermissionOption[]
  readonly grant?: GrantSubject
  readonly resume: unknown
  readonly survives?: false
}
