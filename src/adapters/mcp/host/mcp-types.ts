/** What the registry knows of a connected server, whatever protocol it speaks. */
import type { Activity } from '../../../ports/activity.ts'
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
import type { Logins, LoginSettings } from '../oauth/authorization.ts'

/** A tool as its server describes it, cleaned of what we cannot use. */
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
export interface Offer {
  readonly tools: readonly ServerTool[]
  readonly resources: readonly ServerResource[]
  readonly templates: readonly ServerTemplate[]
  readonly prompts: readonly ServerPrompt[]
}

export const NOTHING: Offer = { tools: [], resources: [], templates: [], prompts: [] }

export interface About {
  /** What the server calls itself, for people. */
  readonly title: string
  readonly speaks: Pick<ServerStatus, 'era' | 'protocol' | 'unused'>
}

export interface Connection {
  readonly about: About
  offer(): Offer
  /** The resources that it tells the changes of. */
  watched(): readonly string[]
  /** Somebody is about to use what it offers: asks for lists that have grown old and whose changes nobody tells. Nobody waits. */
  refreshIfStale(): void
  /** What the last listing took. */
  latencyMs(): number
  /** Throws what `ToolRegistry.call` throws; `name` is what the errors call the tool. A pause is the end of this part of it. */
  call(tool: ServerTool, args: unknown, options: CallOptions): Promise<ToolResult | Paused>
  read(uri: string, options: CallOptions): ReturnType<ToolRegistry['read']>
  prompt(
    original: string,
    args: Readonly<Record<string, string>>,
    options: CallOptions,
  ): Promise<readonly PromptMessage[]>
  complete(request: CompletionRequest, options: CallOptions): Promise<readonly string[]>
  /** The root set is another now. */
  rootsChanged(): void
  /** Closes it when its last call has ended: a connection of no more use may still bring answers. */
  drain(): Promise<void>
  /** Ends the connection, its session at the server, and its process. Idempotent. */
  close(): Promise<void>
}

export interface CallOptions extends ToolCallOptions {
  readonly name: string
  /** Whatever progress there is. */
  readonly totalMs?: number
  /** Goes on from this pause, which may be another connection's, instead of beginning. */
  readonly given?: Given
}

/** The server wants more before the call goes on, and does nothing for it meanwhile. */
export interface Paused {
  readonly pause: ToolInputRequest
}

export interface Given extends Paused {
  readonly input: ToolInputResponse
  /** What its parts before took of the time for the whole call. */
  readonly spentMs: number
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
  /** That a server whose tools are listed waits for its resources and prompts. */
  readonly moreMs: number
  /** A tool call without answer or progress. */
  readonly callMs: number
  /** A tool call, whatever progress it reports. */
  readonly callTotalMs: number
  /** The least time between two listings of one server's tools, resources or prompts. */
  readonly listPauseMs: number
  /** The same for a server that says that they changed and has nothing new. */
  readonly idleListPauseMs: number
  /** That a list is believed whose changes nobody tells, unless the server says that it holds for longer. */
  readonly staleMs: number
  /** After each loss in a row of a server that worked; a process is left alone after the last. */
  readonly restartPausesMs: readonly number[]
  /** Whoever ran so long is not counted as lost in a row. */
  readonly steadyMs: number
  /** Until a server that never worked is tried again, if somebody wants it. */
  readonly retryMs: number
  /** Until a process that was lost too often is tried again, if somebody wants it. */
  readonly restMs: number
  /** That a shared server stays when the last session has left it. */
  readonly idleMs: number
  /** For a process that was asked to end. */
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
  restMs: 300_000,
  idleMs: 60_000,
  graceMs: 1000,
}

/** A process of a server, for those who keep account; its arguments may hold secrets. */
export interface StartedServer {
  readonly server: string
  /** The session that it was started for; one that is shared may serve others later. */
  readonly session: string
  readonly command: string
  readonly args: readonly string[]
  readonly pid: number
}

/** What every connection of a host is made with. */
export interface McpHostContext {
  readonly processes: Processes
  readonly clock: Clock
  readonly clientInfo: ClientInfo
  readonly limits: Limits
  /** Checks values against the schemas of servers. */
  readonly checker: Checker
  readonly activity: Activity
  /** Told, in a sentence without secrets, what people should know and no call can say. */
  readonly warn: (sentence: string) => void
  /** Told of every process that is started as a server. */
  readonly started?: (started: StartedServer) => void
  /** Which configurations turned out to speak the older protocol. */
  readonly protocolCache: ProtocolCache
  readonly connectQueue: ConnectQueue
  /** Whether there is somebody whom servers may ask. */
  readonly elicitation: boolean
  /** What lets us in at servers that want somebody to log in. */
  readonly logins?: Logins
}

export interface ConnectRequest {
  readonly server: McpServer
  /** What the server is called in sentences. */
  readonly label: string
  /** The session that it is connected for. */
  readonly session: string
  readonly cwd: string
  /** Which protocol to speak; `auto` finds out. */
  readonly protocol: 'auto' | 'legacy' | 'modern'
  readonly signal: AbortSignal
  /** A file names it, so that people can do so too. */
  readonly isConfigured: boolean
  readonly login?: LoginSettings
  /** Absolute paths of the root set, as they are now. */
  readonly roots: () => readonly string[]
  /** Resources that were read over an earlier connection: whether they have changed since, nobody can say. */
  readonly watched: readonly string[]
  /** What it offers is another. */
  readonly onOffer: () => void
  /** The connection is of no more use; the reason is a sentence without secrets. */
  readonly onLost: (reason: string) => void
}
