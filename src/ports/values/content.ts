/** Content of messages between users, agents and tools, in the shapes that ACP and MCP share. */

/** Passed through untouched; each key belongs to the client, agent or tool that set it. */
export type Meta = Readonly<Record<string, unknown>>

interface Annotated {
  readonly annotations?: Readonly<Record<string, unknown>> | null
  readonly meta?: Meta | null
}

export type Content = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource

export interface TextContent extends Annotated {
  readonly type: 'text'
  readonly text: string
}

/** `data` is base64. */
export interface ImageContent extends Annotated {
  readonly type: 'image'
  readonly data: string
  readonly mimeType: string
  readonly uri?: string | null
}

/** `data` is base64. */
export interface AudioContent extends Annotated {
  readonly type: 'audio'
  readonly data: string
  readonly mimeType: string
}

export interface ResourceLink extends Annotated {
  readonly type: 'resource_link'
  readonly uri: string
  readonly name: string
  readonly title?: string | null
  readonly description?: string | null
  readonly mimeType?: string | null
  /** Bytes. */
  readonly size?: number | null
}

export interface EmbeddedResource extends Annotated {
  readonly type: 'resource'
  readonly resource: TextResource | BlobResource
}

export interface TextResource {
  readonly uri: string
  readonly text: string
  readonly mimeType?: string | null
  readonly meta?: Meta | null
}

/** `blob` is base64. */
export interface BlobResource {
  readonly uri: string
  readonly blob: string
  readonly mimeType?: string | null
  readonly meta?: Meta | null
}

/** The content that clients display for a tool call. Paths are absolute; `oldText` is null for a new file. */
export type ToolCallContent =
  | { readonly type: 'content'; readonly content: Content; readonly meta?: Meta }
  | {
      readonly type: 'diff'
      readonly path: string
      readonly oldText: string | null
      readonly newText: string
      readonly meta?: Meta
    }
  /** Only the client that has the terminal can show it; `output` is what everyone else is shown, as far as it is known. */
  | { readonly type: 'terminal'; readonly terminalId: string; readonly output?: string; readonly meta?: Meta }

export type ToolKind =
  | 'read'
  | 'edit'
  | 'delete'
  | 'move'
  | 'search'
  | 'execute'
  | 'think'
  | 'fetch'
  | 'switch_mode'
  | 'other'

export type ToolStatus = 'pending' | 'in_progress' | 'completed' | 'failed' | 'cancelled'

/** `path` is absolute, `line` counts from 1. */
export interface ToolLocation {
  readonly path: string
  readonly line?: number
  readonly meta?: Meta
}

/**
 * A change to a tool call. Absent fields stay as they are; `content` and `locations` replace the former values. The first
 * patch of a call carries its `title`.
 */
export interface ToolCallPatch {
  readonly title?: string
  readonly name?: string
  readonly kind?: ToolKind
  readonly status?: ToolStatus
  readonly content?: readonly ToolCallContent[]
  readonly locations?: readonly ToolLocation[]
  readonly rawInput?: unknown
  readonly rawOutput?: unknown
  /** Who decided whether the call may run, and why; absent where nothing had to be decided. */
  readonly permission?: PermissionDecision
  readonly meta?: Meta
}

/** `answer`: the user's answer in this session; `tool`: the effects of the call, or that they are unknown. */
export interface PermissionDecision {
  readonly decision: 'allow' | 'ask' | 'deny'
  readonly by: 'rule' | 'mode' | 'answer' | 'tool'
  readonly why: string
}

export interface PlanEntry {
  readonly content: string
  readonly priority: 'high' | 'medium' | 'low'
  readonly status: 'pending' | 'in_progress' | 'completed'
}

export type PermissionKind = 'allow_once' | 'allow_always' | 'reject_once' | 'reject_always'

export interface PermissionOption {
  readonly optionId: string
  readonly name: string
  /** A `PermissionKind`, or a word of an external agent: that is shown to users, and never chosen for them. */
  readonly kind: string
}

/** How a question ended. Only `selected` with an allowing kind is a yes. */
export type PermissionOutcome =
  | { readonly outcome: 'selected'; readonly optionId: string; readonly kind: string }
  | { readonly outcome: 'cancelled' }

/**
 * Information for the clients that are attached now; not part of the conversation. `severity` is info, warning, error, or
 * `_…`.
 */
export interface Notice {
  readonly severity: string
  readonly title: string
  readonly description?: string
  readonly meta?: Meta
}

/** How full the agent's context is, in tokens; `cost` is what the session has cost so far. */
export interface Usage {
  readonly used: number
  readonly size: number
  readonly cost?: { readonly amount: number; readonly currency: string }
}

export type CompactionStatus = 'in_progress' | 'completed' | 'failed' | 'cancelled'

/** A change to a compaction of the context. Absent fields stay as they are; `summary` replaces the former one. */
export interface CompactionPatch {
  readonly status: CompactionStatus
  /** Only of one that is completed. */
  readonly summary?: readonly Content[]
  /** Only of one that has failed. */
  readonly error?: string
  readonly meta?: Meta
}

/** A slash command that users may type; `hint` describes the argument after its name. */
export interface SlashCommand {
  readonly name: string
  readonly description: string
  readonly hint?: string
}
