/** What the registry knows of a connected server, whatever protocol it speaks. */
import type { Clock } from '../../ports/clock.ts'
import type { Processes } from '../../ports/process.ts'
import type { McpServer, ToolCallOptions, ToolResult } from '../../ports/tools.ts'

/** A tool as its server describes it, cleaned of what we cannot use. */
export interface ServerTool {
  readonly original: string
  readonly title: string
  readonly description: string
  readonly inputSchema: Readonly<Record<string, unknown>>
  readonly outputSchema?: Readonly<Record<string, unknown>>
  readonly readOnly: boolean
}

export interface Connection {
  /** What the server calls itself, for people. */
  readonly title: string
  /** Its tools as last listed. */
  tools(): readonly ServerTool[]
  /** Throws what `ToolRegistry.call` throws; `name` is what the errors call the tool. */
  call(tool: ServerTool, args: unknown, options: CallOptions): Promise<ToolResult>
  /** Closes it when its last call has ended: a connection of no more use may still bring answers. */
  retire(): Promise<void>
  /** Ends the connection, its session at the server, and its process. Idempotent. */
  close(): Promise<void>
}

export interface CallOptions extends ToolCallOptions {
  readonly name: string
}

export interface ClientInfo {
  readonly name: string
  readonly title?: string
  readonly version: string
}

export interface Limits {
  /** For the first message of a server that may not know the newest protocol. */
  readonly probeMs: number
  /** For the answer of a process that was silent to that message, until it is started afresh. */
  readonly silenceMs: number
  /** For a whole attempt to connect. */
  readonly connectMs: number
  /** A tool call without answer or progress. */
  readonly callMs: number
  /** A tool call, whatever progress it reports. */
  readonly callTotalMs: number
  /** The least time between two listings of one server's tools. */
  readonly listPauseMs: number
  /** For a process that was asked to end. */
  readonly graceMs: number
}

export const DEFAULT_LIMITS: Limits = {
  probeMs: 2000,
  silenceMs: 4000,
  connectMs: 30_000,
  callMs: 60_000,
  callTotalMs: 600_000,
  listPauseMs: 500,
  graceMs: 1000,
}

/** What every connection of a host is made with. */
export interface Surroundings {
  readonly processes: Processes
  readonly clock: Clock
  readonly clientInfo: ClientInfo
  readonly limits: Limits
  /** Told, in a sentence without secrets, what people should know and no call can say. */
  readonly warn: (sentence: string) => void
}

export interface ConnectRequest {
  readonly server: McpServer
  /** What the server is called in sentences. */
  readonly label: string
  readonly cwd: string
  readonly signal: AbortSignal
  readonly onTools: () => void
  /** The connection is of no more use; the reason is a sentence without secrets. */
  readonly onLost: (reason: string) => void
}
