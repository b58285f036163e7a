/** The tools that a session's agent may call: one list, always current, whatever its servers do. */
import type { Content } from './content.ts'
import type { Signal } from './signal.ts'

/** How to reach an MCP server, as `session/new`, `load` and `resume` name it. `env` and `headers` are secrets. */
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
  readonly original: string
  /** What people read: the server's title for it, else its own name. */
  readonly title: string
  readonly description: string
  /** JSON Schema of the arguments, as the server sent it. */
  readonly inputSchema: unknown
  readonly server: string
  /** Parley's own servers are trusted; what others say of themselves is not believed. */
  readonly trusted: boolean
  /** The server says that the tool changes nothing. A claim, unless `trusted`. */
  readonly readOnly: boolean
}

export interface ServerStatus {
  readonly name: string
  /** What the server calls itself, for people. */
  readonly title: string
  readonly state: 'idle' | 'connecting' | 'ready' | 'failed' | 'closed'
  /** Why it failed; one sentence without secrets. */
  readonly reason?: string
  readonly tools: number
}

/** An immutable picture of the registry; `version` grows by one with every change. */
export interface ToolList {
  readonly version: number
  readonly tools: readonly Tool[]
  readonly servers: readonly ServerStatus[]
}

export interface ToolResult {
  readonly content: readonly Content[]
  /** Structured content where the server sent some. */
  readonly structured?: unknown
  /** The tool ran and says that it failed. */
  readonly isError: boolean
}

export interface ToolCallOptions {
  readonly signal: Signal
  /** Milliseconds without an answer or progress until TOOL_TIMEOUT; the adapter has a default. */
  readonly timeoutMs?: number
  readonly onProgress?: (progress: ToolProgress) => void
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
   * Starts servers that wait for their first use and resolves as soon as none is connecting any more,
   * or after `limitMs`, or when `signal` aborts, with the list as it then stands. A server that was waited for so long
   * in vain is not waited for again while it goes on connecting. Never throws.
   */
  ready(limitMs: number, signal: Signal): Promise<ToolList>
  /**
   * Calls a tool by its registry name. Throws TOOL_UNKNOWN, TOOL_ARGUMENTS (refused before sending), TOOL_TIMEOUT,
   * TOOL_CANCELLED, TOOL_NOT_RUN (it provably did not run) or TOOL_LOST (the answer was lost; it may have run).
   */
  call(name: string, args: unknown, options: ToolCallOptions): Promise<ToolResult>
  /** Calls `listener` after each change of the list; returns how to stop that. */
  onChange(listener: (list: ToolList) => void): () => void
  /** Refuses calls from now on and closes when those that are under way have ended. */
  retire(): Promise<void>
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
