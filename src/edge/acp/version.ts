/** The interface that each version of ACP implements, so that v2 can stand beside v1. `versions.ts` lists the versions. */
import type { Activity } from '../../ports/values/activity.ts'
import type { Agents } from '../../ports/agent.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Signal } from '../../ports/values/signal.ts'
import type { RequestId, PendingRequests } from '../../rpc/json-rpc.ts'
import type { SessionDirectory } from '../../session/handle.ts'
import type { Access, Draining, Principal } from '../method-access.ts'
import type { SeenMarks } from '../seen-marks.ts'
import type { Transport } from '../transport/transport.ts'

export interface ProtocolVersion {
  /** As `initialize` names it. */
  readonly number: number
  /**
   * Loads what a connection needs after `initialize`. A server calls it before it accepts clients: a module that fails to load
   * once, for want of file descriptors for example, stays so for as long as the process lives.
   */
  load(): Promise<unknown>
  /** Called once per connection, with its first `initialize`. */
  open(connection: ConnectionContext): VersionConnection
}

/** One connection in one version. */
export interface VersionConnection {
  /** Methods that need no session, such as `authenticate`. */
  readonly ownMethods: OwnMethods
  /** Methods whose requests a client can cancel while they wait for the server to be ready. */
  readonly cancellable: ReadonlySet<string>
  /** Answers `initialize` before anything heavy is loaded: an editor shows the agent at once. Throws PARAMS_INVALID. */
  initialize(params: unknown): object
  /** All other methods, once sessions can be served; rejects when they cannot. Undefined before `initialize` has succeeded. */
  readonly methods: Promise<VersionMethods> | undefined
  /** The server is about to end the connection: clients that asked for that are notified. */
  stopping(): void
}

export interface VersionMethods {
  /** Undefined when this version has no such method. */
  request(method: string, params: unknown, asker: Asker): Promise<MethodAnswer | 'answered later'> | undefined
  /** A notification of the client. One that is unknown, or concerns nothing that runs, is no error. */
  notified(method: string, params: unknown): Promise<void>
  /** `$/cancel_request` of a request that is answered later. */
  cancelRequest(requestId: RequestId): Promise<void>
  /** The client is gone. */
  detach(): void
}

export type OwnMethods = Readonly<Record<string, (params: unknown) => unknown>>

/** The request that is being handled; `signal` aborts when its client no longer waits. */
export interface Asker {
  readonly id: RequestId
  readonly signal: AbortSignal
}

export interface MethodAnswer {
  readonly result: unknown
  /** Runs when the answer has been sent. */
  readonly afterwards?: () => Promise<void>
}

/** One connection, as the server gives it to a version. */
export interface ConnectionContext {
  readonly transport: Transport
  /** Requests to the client that have no response yet. */
  readonly pending: PendingRequests
  readonly access: Access
  readonly server: ServerContext
}

export interface ServerInfo {
  readonly name: string
  readonly title: string
  readonly version: string
}

/** The agent of sessions that a connection creates. */
export interface DefaultAgent {
  /** Its full name. */
  readonly name: string
  /** A user named it: sessions that the connection opens get it too, from their next turn on. */
  readonly chosen: boolean
}

/** The server, as each of its connections sees it. */
export interface ServerContext {
  /** Resolves when the owner has its journal and has recovered; rejects when it cannot. */
  readonly sessions: Promise<SessionDirectory>
  readonly info: ServerInfo
  readonly agents: Agents
  /** For clients that name no agent; absent: the default of `agents`. */
  readonly agent?: DefaultAgent
  /** The token that a client must give before it can call most methods; absent: none. */
  readonly token?: string | undefined
  /** Whether methods that ACP has not settled yet are offered. */
  readonly experimental?: boolean
  /** The client's identity and role. */
  readonly principal: Principal
  /** Methods of the server itself beyond ACP (`_parley/…`); advertised in `initialize`. */
  readonly methods?: OwnMethods
  /** Absent: no watchdog runs. */
  readonly activity?: Activity
  /** Absent: the server stops together with its only client. */
  readonly draining?: Draining
  /** Aborts when the server is about to end the connection. */
  readonly stopping?: Signal
  readonly clock: Pick<Clock, 'id' | 'now' | 'setTimer'>
  /** What each person has read; absent: nothing is remembered beyond the connection. */
  readonly seen?: SeenMarks
  /** Where clients without the role admin may name directories; absent: only where sessions are. */
  readonly roots?: readonly string[]
  /** The names of the MCP servers that the settings have for a directory; absent: none are known. */
  readonly mcpServersOf?: (cwd: string) => Promise<readonly string[]>
  /** Calls with the parameters of `_parley/agents`, soon and whenever they change, until the answer is called; absent: there is no list. */
  readonly watchAgents?: (changed: (list: object) => void) => () => void
  report(error: unknown): void
  /** Resolves when requests of a client that has left are no longer waited for. */
  untilReplyTimeout(): Promise<void>
  /** Called when the client has its answer to `initialize`. */
  readonly initialized?: () => void
  /** Ends what belongs to this client alone; the client still gets what that says, if it reads. */
  gone?(): Promise<void>
}
