/** The tools that a session's agent may call: one list, always current, whatever its servers do. */
import type { PathAccessFilter } from './bars.ts'
import type { TurnClient } from './client.ts'
import type {
  Content,
  EmbeddedResource,
  PlanEntry,
  ToolCallContent,
  ToolCallPatch,
  ToolKind,
  ToolLocation,
} from './content.ts'
import type { Elicitation, ElicitationAnswer } from './elicitation.ts'
import type { Signal } from './signal.ts'

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
  /** The name its server gave it; it goes out exactly so. */
  readonly serverToolName: string
  /** What people read: the server's title for it, else its own name. */
  readonly title: string
  readonly description: string
  /** JSON Schema of the arguments, as the server sent it. */
  readonly inputSchema: unknown
  /** The same in the words that every provider of models accepts. */
  readonly modelSchema?: Readonly<Record<string, unknown>>
  /** Why it is kept from models, if it is: people and scripts may call it all the same. */
  readonly unsupportedReason?: string
  readonly server: string
  /** Parley's own servers are trusted; what others say of themselves is not believed. */
  readonly builtin: boolean
  /** The server says that the tool changes nothing. A claim, unless `trusted`. */
  readonly readOnly: boolean
  /** Differs when the server changed what it says of the tool: whoever allowed the former allowed something else. */
  readonly definitionHash: string
}

/** What a server offers to be read. */
export interface Resource {
  readonly server: string
  readonly uri: string
  /** What people read. */
  readonly title: string
  readonly description: string
  readonly mimeType?: string
  /** Bytes, as the server says. */
  readonly size?: number
  /** Its server says that it is another since it was last read. */
  readonly changed?: true
}

/** A family of resources: a URI with holes, as RFC 6570 has them. */
export interface ResourceTemplate extends Omit<Resource, 'uri' | 'size' | 'changed'> {
  readonly uriTemplate: string
}

/** A text with holes that people may choose to say: a slash command. */
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
  /** What the server calls itself, for people. */
  readonly title: string
  readonly state: 'idle' | 'connecting' | 'ready' | 'failed' | 'closed'
  /** Why it failed; one sentence without secrets. */
  readonly reason?: string
  readonly tools: number
  /** With a handshake and a session, or without: said of a server that is ready, like all that follows. */
  readonly era?: 'legacy' | 'modern'
  /** The revision of MCP that both speak. */
  readonly protocol?: string
  /** What its last listing took. */
  readonly latencyMs?: number
  /** What it has and Parley does not use yet. */
  readonly unused?: readonly string[]
}

/** An immutable picture of the registry; `version` grows by one with every change. */
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
  /** Structured content where the server sent some. */
  readonly structured?: unknown
  /** What a model is given instead of a long `content`: its beginning, and how much there is. */
  readonly modelContent?: readonly Content[]
  /** What people are shown in the place of `content`: differences, a terminal. */
  readonly displayContent?: readonly ToolCallContent[]
  /** The tool ran and says that it failed. */
  readonly isError: boolean
}

export interface ToolCallOptions {
  readonly signal: Signal
  /** Milliseconds without an answer or progress until TOOL_TIMEOUT; the adapter has a default. */
  readonly timeoutMs?: number
  readonly onProgress?: (progress: ToolProgress) => void
  /** Needed by tools of our own alone, which fail without it. */
  readonly caller?: ToolCallContext
  /** Told, with the reason, before a call that provably did not run is sent once more; it is not when this throws. */
  readonly onRetry?: (why: string) => Promise<void>
  /** Asked on behalf of the server while the call runs; without it, and when it throws, the answer is `cancel`. */
  readonly onElicit?: (question: Elicitation) => Promise<ElicitationAnswer>
  /**
   * Asked when the server has ended its part until it is given more. Nothing runs there meanwhile; the call goes on when
   * this resolves, and ends with what it throws. Without it each question goes to `onElicit`.
   */
  readonly onInputRequired?: (pause: ToolInputRequest) => Promise<ToolInputResponse>
  /** The call is not begun: it goes on from this pause, whichever process began it. */
  readonly resumeFrom?: ToolInputRequest
}

/** Where a call stands whose server wants more before it goes on. JSON: it outlives the connection and the process. */
export interface ToolInputRequest {
  /** What a person is asked for, each under a key of the server's; there may be none. */
  readonly questions: Readonly<Record<string, Elicitation>>
  /** What goes back to the server. Whoever keeps it shows it to nobody: it is the server's own, and may be a secret. */
  readonly state: unknown
}

/** What became of each question of a pause. */
export type ToolInputResponse = Readonly<Record<string, ElicitationAnswer>>

/** What is to be completed: a value of one argument of a prompt or of one hole of a template. */
export interface CompletionRequest {
  readonly of: { readonly prompt: string } | { readonly uriTemplate: string }
  readonly argument: string
  readonly value: string
  /** The arguments that are known already. */
  readonly known?: Readonly<Record<string, string>>
}

/** What a call would do, as far as its arguments tell: for whoever is asked about it, and for the rules that decide whether. */
export interface ToolPreview {
  /** What people read: `Edit src/main.ts`. Absent: the title of the tool. */
  readonly title?: string
  readonly kind: ToolKind
  /** Differences, the command …: shown with the question. */
  readonly content?: readonly ToolCallContent[]
  readonly locations?: readonly ToolLocation[]
  /** The files and directories that it reads or changes; absolute, real, inside the root set. */
  readonly paths?: readonly string[]
  readonly command?: PreviewedCommand
  readonly url?: string
  /** The MCP server that it asks for something, where that is not the tool's own: rules that ask or deny by server catch it. */
  readonly server?: string
  /** It may destroy data that cannot be recovered: the user is asked each time, whatever is allowed. */
  readonly destroys?: boolean
  /** Why git executes or obeys what it writes, found by looking: always asked about, whatever is allowed. */
  readonly gitReason?: string
  /** Why the call cannot work: nobody is asked about it, and the agent reads this. */
  readonly cannotRunReason?: string
}

/** A command line, and what can be told of it from the line alone. */
export interface PreviewedCommand {
  readonly line: string
  /** The part that an "always" is said of, like `npm test`. */
  readonly approvalPrefix: string
  /** `changes`: not known to only read. `destroys`: it may destroy data that cannot be recovered, or its effect is unknown. */
  readonly effect: 'reads' | 'changes' | 'destroys'
  /** What is said to people where it destroys. */
  readonly why?: string
  /** Options and variables with which a program does more than its name says: an allow rule must name each of them. */
  readonly extras: readonly string[]
  /** Absolute places that its words may name: `*` stands for letters of a name, `**` for any names. */
  readonly pathPatterns: readonly string[]
  /** It goes through directories. */
  readonly isDeep: boolean
}

/** Who calls, for tools of our own: what an MCP server never hears of. */
export interface ToolCallContext {
  readonly sessionId: string
  readonly turnId: string
  readonly toolCallId: string
  /** `[cwd, …additionalDirectories]`, absolute. */
  readonly roots: readonly string[]
  /** What the client of the turn offers. What is done with it belongs to this call and is told as nothing else. */
  readonly client: TurnClient
  /** Brings the call up to date while it runs: output so far, a terminal. */
  report(patch: ToolCallPatch): Promise<void>
  plan(entries: readonly PlanEntry[]): Promise<void>
  /** What lists and searches leave out, and links must not lead to; as the rules were when the call was decided on. */
  readonly pathAccess: PathAccessFilter
  /** The whole result of an earlier call of this session; undefined where there is none. */
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
   * Starts servers that wait for their first use, unless what they will list is known without that, and resolves as soon
   * as none is connecting any more,
   * or after `limitMs`, or when `signal` aborts, with the list as it then stands. A server that was waited for so long
   * in vain is not waited for again while it goes on connecting. Never throws.
   */
  ready(limitMs: number, signal: Signal): Promise<ToolList>
  /**
   * What a call would do, without doing it. Never waits for a server and never throws: where arguments are wrong or nothing
   * is known it tells what the tool is for.
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
   * Reads a resource, listed or not, at the server that spoke of it; where that tells of changes, the list marks the
   * resource from then on when it has changed. Throws MCP_REQUEST.
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
