/** Types that the host, the client and the registry share: a server's offer, its connection, limits and options. */
import type { Activity } from '../../../ports/values/activity.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Processes } from '../../../ports/process.ts'
import type {
  CompletionRequest,
  McpServer,
  PromptMessage,
  PromptTemplate,
  Resource,
  ResourceTemplate,
  ServerStatus,
  ToolCallOptions,
  ToolInputResponse,
  ToolInputRequest,
  ToolRegistry,
  ToolResult,
} from '../../../ports/tools.ts'

import type { Checker } from '../../checking/checker.ts'
import type { ProtocolCache } from './protocol-cache.ts'
import type { ConnectQueue } from './connect-queue.ts'
import type { LoginSettings } from '../../../ports/values/mcp-server-settings.ts'
import type { Logins } from '../oauth/authorization.ts'

/** A tool as its server describes it, without parts that Parley cannot use. */
export interface ServerTool {
  readonly serverToolName: string
  readonly title: string
  readonly description: string
  readonly inputSchema: Readonly<Record<string, unknown>>
  readonly outputSchema?: Readonly<Record<string, unknown>>
  readonly readOnly: boolean
  readonly definitionHash: string
  readonly modelSchema?: Readonly<Record<string, unknown>>
  readonly unsupportedReason?: string
}

export type ServerResource = Omit<Resource, 'server'>
export type ServerTemplate = Omit<ResourceTemplate, 'server'>
export type ServerPrompt = Omit<PromptTemplate, 'server' | 'name'>

/** The lists of a server that can change, each on its own. */
export const LIST_KINDS = ['tools', 'resources', 'prompts'] as const
export type ListKind = (typeof LIST_KINDS)[number]

/** Everything that a server offers, as last listed. */
export interface ServerOffer {
  readonly tools: readonly ServerTool[]
  readonly resources: readonly ServerResource[]
  readonly templates: readonly ServerTemplate[]
  readonly prompts: readonly ServerPrompt[]
}

export const EMPTY_SERVER_OFFER: ServerOffer = { tools: [], resources: [], templates: [], prompts: [] }

export interface About {
  /** The name that the server gives itself, for display. */
  readonly title: string
  readonly speaks: Pick<ServerStatus, 'era' | 'protocol' | 'unused'>
}

export interface ServerConnection {
  readonly about: About
  offer(): ServerOffer
  /** The resources whose changes the server reports. */
  watched(): readonly string[]
  /** Lists again in the background what is old and whose changes the server does not report. Called before the offer is used. */
  refreshIfStale(): void
  /** The duration of the last listing. */
  latencyMs(): number
  /** Throws what `ToolRegistry.call` throws, with `name` as the tool's name. A pause ends this part of the call. */
  call(tool: ServerTool, args: unknown, options: CallOptions): Promise<ToolResult | Paused>
  read(uri: string, options: CallOptions): ReturnType<ToolRegistry['read']>
  prompt(
    original: string,
    args: Readonly<Record<string, string>>,
    options: CallOptions,
  ): Promise<readonly PromptMessage[]>
  complete(request: CompletionRequest, options: CallOptions): Promise<readonly string[]>
  /** Called when the root set changes. */
  rootsChanged(): void
  /** Closes the connection when its last call has ended: a lost connection may still deliver answers. */
  drain(): Promise<void>
  /** Ends the connection, its session at the server, and its process. Idempotent. */
  close(): Promise<void>
}

export interface CallOptions extends ToolCallOptions {
  readonly name: string
  /** For the whole call, also with progress. */
  readonly totalMs?: number
  /** Continues a paused call, possibly of another connection, instead of starting a new one. */
  readonly given?: GivenInput
}

/** The server needs input before it continues the call, and does nothing for it until then. */
export interface Paused {
  readonly pause: ToolInputRequest
}

export interface GivenInput extends Paused {
  readonly input: ToolInputResponse
  /** Time that the earlier parts of the call took. */
  readonly spentMs: number
}

export interface ClientInfo {
  readonly name: string
  readonly title?: string
  readonly version: string
}

export interface Limits {
  /** Until the first answer of a server that may not know the newest protocol. */
  readonly probeMs: number
  /** Until a process that does not answer that message is started again with the older handshake. */
  readonly silenceMs: number
  /** For a whole attempt to connect. */
  readonly connectMs: number
  /** How long listed tools wait for the resources and prompts of the same server. */
  readonly moreMs: number
  /** A call without an answer or progress. */
  readonly callMs: number
  /** A whole call, also with progress. */
  readonly callTotalMs: number
  /** The least time between two listings of one server's tools, resources or prompts. */
  readonly listPauseMs: number
  /** The same for a server that reports changes where there are none. */
  readonly idleListPauseMs: number
  /** How long a list counts as current if the server reports no changes and promises no longer validity. */
  readonly staleMs: number
  /** Before the restart after each loss in a row; a process is not restarted after the last. */
  readonly restartPausesMs: readonly number[]
  /** A server that ran this long is not counted as lost in a row. */
  readonly steadyMs: number
  /** Until a server that never worked is tried again, if a session needs it. */
  readonly retryMs: number
  /** Until a process that was lost too often is tried again, if a session needs it. */
  readonly cooldownMs: number
  /** How long a shared server runs after its last session has left. */
  readonly idleMs: number
  /** Until a process that was asked to end is killed. */
  readonly graceMs: number
}

export const DEFAULT_LIMITS: Limits = {
  probeMs: 2000,
  silenceMs: 4000,
  connectMs: 30_000,
  moreMs: 1000,
  callMs: 60_000,
  callTotalMs: 600_000,
  listPauseMs: 500,
  idleListPauseMs: 8000,
  staleMs: 60_000,
  restartPausesMs: [250, 1000, 4000, 15_000, 30_000],
  steadyMs: 60_000,
  retryMs: 30_000,
  cooldownMs: 300_000,
  idleMs: 60_000,
  graceMs: 1000,
}

/** A server process that was started. Its arguments may contain secrets. */
export interface StartedServer {
  readonly server: string
  /** The session that it was started for; a shared server may serve others later. */
  readonly session: string
  readonly command: string
  readonly args: readonly string[]
  readonly pid: number
}

/** The objects that all servers of a host share. */
export interface McpHostContext {
  readonly processes: Processes
  readonly clock: Clock
  readonly clientInfo: ClientInfo
  readonly limits: Limits
  /** Checks values against the schemas of servers. */
  readonly checker: Checker
  readonly activity: Activity
  /** Shows the user a problem, in a sentence without secrets. */
  readonly warn: (sentence: string) => void
  /** Called for every server process that is started. */
  readonly started?: (started: StartedServer) => void
  /** Which servers speak the older protocol. */
  readonly protocolCache: ProtocolCache
  readonly connectQueue: ConnectQueue
  /** Whether servers may ask the user. */
  readonly elicitation: boolean
  /** For servers that require a login. */
  readonly logins?: Logins
}

export interface ConnectRequest {
  readonly server: McpServer
  /** The server's name in messages. */
  readonly label: string
  /** The session that it is connected for. */
  readonly session: string
  readonly cwd: string
  /** Which protocol to speak; `auto` negotiates. */
  readonly protocol: 'auto' | 'legacy' | 'modern'
  readonly signal: AbortSignal
  /** A configuration file names it, so that commands can refer to it by name. */
  readonly isConfigured: boolean
  readonly login?: LoginSettings
  /** Absolute paths of the root set, as they are now. */
  readonly roots: () => readonly string[]
  /** Resources that were read over an earlier connection and may have changed since. */
  readonly watched: readonly string[]
  /** Called when its offer changes. */
  readonly onOffer: () => void
  /** Called once when the connection is lost; the reason is a sentence without secrets. */
  readonly onLost: (reason: string) => void
}
