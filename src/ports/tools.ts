/** The tools that a session's agent may call: one list that is always current, whatever the MCP servers do. */
import type { PathAccessFilter } from './values/path-access.ts'
import type { TurnClient } from './client-peer.ts'
import type {
  Content,
  EmbeddedResource,
  PlanEntry,
  ToolCallContent,
  ToolCallPatch,
  ToolKind,
  ToolLocation,
} from './values/content.ts'
import type { Elicitation, ElicitationAnswer } from './values/elicitation.ts'
import type { Signal } from './values/signal.ts'

/** How to reach an MCP server that a client declares when it opens a session. `env` and `headers` are secrets. */
export type McpServer =
  | {
      readonly type: 'stdio'
      readonly name: string
      readonly command: string
      readonly args: readonly string[]
      readonly env: Readonly<Record<string, string>>
    }
  | {
      readonly type: 'http' | 'sse'
      readonly name: string
      readonly url: string
      readonly headers: readonly (readonly [name: string, value: string])[]
    }

export interface Tool {
  /** Unique in the registry, at most 64 of `[A-Za-z0-9_-]`: `server__tool`. */
  readonly name: string
  /** The name that its server gave it, and is called by. */
  readonly serverToolName: string
  /** For display: the server's title for the tool, else its name. */
  readonly title: string
  readonly description: string
  /** JSON Schema of the arguments, as the server sent it. */
  readonly inputSchema: unknown
  /** The same schema, rewritten so that every model provider accepts it. */
  readonly modelSchema?: Readonly<Record<string, unknown>>
  /** Why models are not offered the tool; users and scripts can still call it. */
  readonly unsupportedReason?: string
  readonly server: string
  /** Part of Parley, so its claims about its own tools are trusted. */
  readonly builtin: boolean
  /** The server says that the tool changes nothing. Only a claim unless `builtin`. */
  readonly readOnly: boolean
  /** Changes when the server describes the tool differently: a grant for the former definition does not hold for the new one. */
  readonly definitionHash: string
}

/** A resource of an MCP server. */
export interface Resource {
  readonly server: string
  readonly uri: string
  /** For display. */
  readonly title: string
  readonly description: string
  readonly mimeType?: string
  /** Bytes, as the server says. */
  readonly size?: number
  /** Its server says that it changed after it was last read. */
  readonly changed?: true
}

/** A family of resources: a URI template of RFC 6570. */
export interface ResourceTemplate extends Omit<Resource, 'uri' | 'size' | 'changed'> {
  readonly uriTemplate: string
}

/** A prompt template of an MCP server, offered as a slash command. */
export interface PromptTemplate {
  /** Unique among the prompts of the registry, in the letters of `Tool.name`. */
  readonly name: string
  readonly serverPromptName: string
  readonly title: string
  readonly description: string
  readonly server: string
  readonly arguments: readonly PromptArgument[]
}

export interface PromptArgument {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly required: boolean
}

export interface PromptMessage {
  readonly role: 'user' | 'assistant'
  readonly content: Content
}

export interface ServerStatus {
  readonly name: string
  /** The title that the server gives itself, for display. */
  readonly title: string
  readonly state: 'connecting' | 'ready' | 'failed' | 'closed'
  /** Why it failed; one sentence without secrets. */
  readonly reason?: string
  readonly tools: number
  /** Whether the server works with a handshake and a session. Set when it is ready, like the fields below. */
  readonly era?: 'legacy' | 'modern'
  /** The revision of MCP that both speak. */
  readonly protocol?: string
  /** How long its last listing took. */
  readonly latencyMs?: number
  /** Its capabilities that Parley does not use. */
  readonly unused?: readonly string[]
}

/** An immutable snapshot of the registry; `version` grows by one with every change. */
export interface ToolList {
  readonly version: number
  readonly tools: readonly Tool[]
  readonly resources: readonly Resource[]
  readonly templates: readonly ResourceTemplate[]
  readonly prompts: readonly PromptTemplate[]
  readonly servers: readonly ServerStatus[]
}

export interface ToolResult {
  readonly content: readonly Content[]
  /** The structured content, if the server sent any. */
  readonly structured?: unknown
  /** The beginning of a long `content` and its length, for the model. */
  readonly modelContent?: readonly Content[]
  /** Shown to users instead of `content`: diffs, a terminal. */
  readonly displayContent?: readonly ToolCallContent[]
  /** The tool ran and says that it failed. */
  readonly isError: boolean
}

export interface ToolCallOptions {
  readonly signal: Signal
  /** Milliseconds without an answer or progress until TOOL_TIMEOUT; the adapter has a default. */
  readonly timeoutMs?: number
  readonly onProgress?: (progress: ToolProgress) => void
  /** Builtin tools need it; MCP servers never see it. */
  readonly caller?: ToolCallContext
  /** Called with the reason before a call that provably did not run is sent again. It is not sent again if this throws. */
  readonly onRetry?: (why: string) => Promise<void>
  /** Answers a question of the server while the call runs. The answer is `cancel` without it, and when it throws. */
  readonly onElicit?: (question: Elicitation) => Promise<ElicitationAnswer>
  /**
   * Called when the server has stopped the call until it gets more input. The call continues when this resolves, and ends
   * with what this throws. Without it, each question goes to `onElicit`.
   */
  readonly onInputRequired?: (pause: ToolInputRequest) => Promise<ToolInputResponse>
  /** Continues a call that stopped at this request, whichever process began it. */
  readonly resumeFrom?: ToolInputRequest
}

/** Input that a server needs before it continues a call. JSON, because it outlives the connection and the process. */
export interface ToolInputRequest {
  /** Questions to the user, each under a key of the server; there may be none. */
  readonly questions: Readonly<Record<string, Elicitation>>
  /** Goes back to the server as it came. It may be a secret of the server, so no client sees it. */
  readonly state: unknown
}

/** The answer to each question. */
export type ToolInputResponse = Readonly<Record<string, ElicitationAnswer>>

/** A value to complete: of one argument of a prompt, or of one variable of a URI template. */
export interface CompletionRequest {
  readonly of: { readonly prompt: string } | { readonly uriTemplate: string }
  readonly argument: string
  readonly value: string
  /** The values of other arguments. */
  readonly known?: Readonly<Record<string, string>>
}

/** The effects of a call, as far as its arguments show them: for the rules, and for the user who is asked about it. */
export interface ToolPreview {
  /** For display, like `Edit src/main.ts`. Absent: the title of the tool. */
  readonly title?: string
  readonly kind: ToolKind
  /** Diffs or the command, shown with the permission request. */
  readonly content?: readonly ToolCallContent[]
  readonly locations?: readonly ToolLocation[]
  /** The files and directories that it reads or changes; absolute, real, inside the root set. */
  readonly paths?: readonly string[]
  readonly command?: PreviewedCommand
  readonly url?: string
  /** The MCP server that the call reaches, if that is not the tool's own; rules that ask or deny match it by server. */
  readonly server?: string
  /** It may destroy data that cannot be recovered: the user is asked each time, whatever is allowed. */
  readonly destroys?: boolean
  /** Why git would execute or obey what it writes: permission is always asked, whatever is allowed. */
  readonly gitReason?: string
  /** Why the call cannot work. The agent reads this, and no user is asked. */
  readonly cannotRunReason?: string
}

/** A command line, and what the line alone shows about it. */
export interface PreviewedCommand {
  readonly line: string
  /** The part that "always" holds for, like `npm test`. */
  readonly approvalPrefix: string
  /** `changes`: not known to only read. `destroys`: it may destroy data that cannot be recovered, or its effect is unknown. */
  readonly effect: 'reads' | 'changes' | 'destroys'
  /** Why it destroys, for the user. */
  readonly why?: string
  /** Options and variables with which a program does more than its name says: an allow rule must name each of them. */
  readonly extras: readonly string[]
  /** Absolute paths that its words may name: `*` stands for characters of a name, `**` for any names. */
  readonly pathPatterns: readonly string[]
  /** It walks through directories. */
  readonly isDeep: boolean
}

/** The call as builtin tools see it; MCP servers never do. */
export interface ToolCallContext {
  readonly sessionId: string
  readonly turnId: string
  readonly toolCallId: string
  /** `[cwd, …additionalDirectories]`, absolute. */
  readonly roots: readonly string[]
  /** The services of the client of the turn. Their use is part of this call and is not reported as calls of its own. */
  readonly client: TurnClient
  /** Reports progress while the call runs: output so far, a terminal. */
  report(patch: ToolCallPatch): Promise<void>
  plan(entries: readonly PlanEntry[]): Promise<void>
  /** Files that lists and searches leave out and links must not reach, as the rules were when the call was authorized. */
  readonly pathAccess: PathAccessFilter
  /** The whole result of an earlier call of this session; undefined if there is none. */
  resultOf(toolCallId: string): Promise<readonly Content[] | undefined>
}

export interface ToolProgress {
  readonly progress: number
  readonly total?: number
  readonly message?: string
}

/** One per session. Every adapter passes `test/contracts/tools.ts`. */
export interface ToolRegistry {
  /** The list as it stands now, without waiting. */
  list(): ToolList
  /**
   * Connects the failed servers again whose next attempt is due. Resolves with the current list as soon as no server is
   * connecting, after `limitMs`, or when `signal` aborts. A server that did not connect within `limitMs` is not waited for
   * again during the same attempt. Never throws.
   */
  ready(limitMs: number, signal: Signal): Promise<ToolList>
  /**
   * Describes the effects of a call without running it. Never waits for a server and never throws: with wrong arguments or
   * without any knowledge it describes the tool.
   */
  preview(
    name: string,
    args: unknown,
    caller: Pick<ToolCallContext, 'sessionId' | 'roots' | 'client'>,
  ): Promise<ToolPreview>
  /**
   * Calls a tool by its registry name. Throws TOOL_UNKNOWN, TOOL_ARGUMENTS (refused before sending), TOOL_TIMEOUT,
   * TOOL_CANCELLED, TOOL_NOT_RUN (it provably did not run) or TOOL_LOST (the answer was lost; it may have run).
   */
  call(name: string, args: unknown, options: ToolCallOptions): Promise<ToolResult>
  /**
   * Reads a resource, listed or not, at the server that named it. Where that server notifies of changes, the list marks
   * the resource from then on when it has changed. Throws MCP_REQUEST.
   */
  read(server: string, uri: string, options: ToolCallOptions): Promise<readonly EmbeddedResource['resource'][]>
  /** Fills a prompt in. Throws MCP_REQUEST. */
  prompt(
    name: string,
    args: Readonly<Record<string, string>>,
    options: ToolCallOptions,
  ): Promise<readonly PromptMessage[]>
  /** At most a hundred suggestions; none where the server has none to make or fails. Throws only MCP_REQUEST. */
  complete(server: string, request: CompletionRequest, options: ToolCallOptions): Promise<readonly string[]>
  /** Calls `listener` after each change of the list; returns how to stop that. */
  onChange(listener: (list: ToolList) => void): () => void
  /** Refuses calls from now on and closes when those that are under way have ended. */
  drain(): Promise<void>
  /** Ends open calls, and every server that no other registry shares, with its processes. Idempotent. */
  close(): Promise<void>
}

/**
 * Makes the registries of sessions. Opening never waits for a server. Registries of one scope share the connection to a
 * server that both name alike, from the opening of the first to the close of the last: to change the servers of a live
 * session, open the new registry, then retire the old one.
 */
export interface ToolHost {
  open(request: ToolHostRequest): ToolRegistry
}

export interface ToolHostRequest {
  /** The session: registries of one scope share the connections that are equal. */
  readonly scope: string
  /** Absolute; where stdio servers start. */
  readonly cwd: string
  /** `[cwd, …additionalDirectories]`. */
  readonly roots: readonly string[]
  readonly servers: readonly McpServer[]
}
