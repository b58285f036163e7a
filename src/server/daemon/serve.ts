/** The server: owns the state, listens on its socket, serves every connection, and ends in order. */
import { openSeenMarks } from './seen-file.ts'
import { type RemoteAccess, requireSafe } from '../../config/listen.ts'
import type { Config } from '../../config/settings.ts'
import { isPipe, passedSocket, requirePrivate } from '../../config/socket.ts'
import type { ServerContext } from '../../edge/acp/version.ts'
import { loadVersions } from '../../edge/acp/versions.ts'
import { type ListeningSocket, type SocketListener, listenOn } from '../../edge/transport/unix-socket.ts'
import type { AbortSource } from '../../ports/values/signal.ts'
import type { SessionCounts, SessionRegistry } from '../../session/session-registry.ts'
import { Clients } from './clients.ts'
import { type Owner, type OwnerOptions, openOwner } from '../compose/compose.ts'
import { noteServer } from './pid-file.ts'
import { putLongLogAside } from '../log/log.ts'
import type { ServerControl } from '../admin/admin-methods.ts'
import { RemotePorts } from './remote-ports.ts'
import { AgentsOfServer, serverMethods, machineUsageOf } from './server-methods.ts'
import { Uncaught } from './uncaught.ts'
import { serverInfo } from '../server-info.ts'
import { shutDownWhenIdle } from './idle-shutdown.ts'
import { lossOf } from './ownership-loss.ts'

/** How long a client that has left may still be answered. Milliseconds. */
const REPLY_TIMEOUT_MS = 2_000
/** How long turns that run may still take when the server is to stop. Milliseconds. */
const DEFAULT_GRACE_MS = 10_000

export interface ServeOptions {
  /** Started by a command and not by hand: it ends when it is idle. */
  readonly background?: boolean
  /** How remote clients come in; absent: only over loopback. */
  readonly access?: RemoteAccess
  /** Opened for this very configuration already; it is closed with the server. */
  readonly own?: OwnerOptions['own']
}

const ONLY_LOOPBACK: RemoteAccess = { insecureHttp: false }

/** The socket has mode 0600, in a directory that only the user can enter. */
const LOCAL_USER: ServerContext['principal'] = { transport: 'unix socket', isLocalUser: true, role: 'admin' }

export interface RunningServer {
  readonly socket: string
  /** A warning about the certificate. */
  readonly remark: string | undefined
  /** Where remote clients connect. */
  readonly urls: readonly string[]
  /** Resolves when everything has ended and the state is free; rejects when the state could not be served after all. */
  readonly ended: Promise<void>
  /** Resolves when it has lost the state and must exit at once, so that its clients continue with another server. */
  readonly lost: Promise<string | undefined>
  /** Begins an orderly stop; a second call can only shorten the grace. `why` is for the log. */
  stop(why: string, graceMs?: number): void
  /** For an uncaught error. Returns why the process must exit at once; undefined when it can continue. */
  uncaught(error: unknown, kind: 'exception' | 'rejection'): string | undefined
}

/** Resolves when it accepts connections. Throws STATE_IN_USE when another process owns the state, and SOCKET_UNUSABLE. */
export async function openServer(config: Config, options: ServeOptions): Promise<RunningServer> {
  const { access = ONLY_LOOPBACK, own } = options
  const owner = await openOwner(config, { access, own })
  try {
    requireSafe(config.listen, access)
    // The main thread has nothing to do until the journal is open.
    owner.prepare()
    await Promise.all([owner.ownership, loadVersions()])
    putLongLogAside(config.home)
    noteServer(config.home, config.cluster !== undefined)
    const server = new Server(config, owner)
    await server.open(options)
    return server
  } catch (error) {
    await owner.close()
    throw error
  }
}

async function listenAt(path: string, listener: SocketListener, passed: number | undefined): Promise<ListeningSocket> {
  if (!isPipe(path)) return await listenOn(path, listener, passed)
  const { listenOnPipe } = await import('../../edge/transport/named-pipe.ts')
  return await listenOnPipe(path, listener)
}

class Server implements RunningServer {
  readonly socket: string
  readonly ended: Promise<void>
  readonly lost: Promise<string | undefined>
  readonly #config: Config
  readonly #owner: Owner
  readonly #clients: Clients
  readonly #drain: Drain
  readonly #started: number
  readonly #seen: ReturnType<typeof openSeenMarks>
  /** Aborts just before every connection is closed. */
  readonly #silence: AbortSource
  readonly #uncaught: Uncaught
  #listening: ListeningSocket | undefined
  readonly #ports: RemotePorts
  #sessions: SessionRegistry | undefined
  readonly #agents: AgentsOfServer

  constructor(config: Config, owner: Owner) {
    this.socket = config.socket
    this.#config = config
    this.#owner = owner
    this.lost = lossOf(owner.ownership)
    this.#clients = new Clients(owner.clock)
    owner.telemetry.gauge('parley.clients', '{client}', () => this.#clients.count)
    this.#started = owner.clock.monotonicNow()
    this.#seen = openSeenMarks(config.home, owner)
    this.#agents = new AgentsOfServer(config, owner)
    this.#drain = new Drain(owner.clock, () => this.#census().working)
    this.#silence = owner.clock.abortSource()
    const working = () => this.#sessions?.atWork() ?? []
    this.#uncaught = new Uncaught({ clock: owner.clock, working, report: owner.log.report })
    this.#ports = new RemotePorts(config.home, {
      clock: owner.clock,
      report: owner.log.report,
      note: (sentence, details) => owner.log.note(sentence, details),
      credentials: () => owner.credentials(),
      push: { sessions: owner.sessions.then((opened) => this.#everywhere(opened)), services: config.pushServices },
      limits: {
        connections: config.remoteConnections,
        requestsPerSecond: config.remoteRequestsPerSecond,
        sessionsPerMinute: config.remoteSessionsPerMinute,
      },
      serve: (wire, principal) => void this.#clients.serve(wire, this.#context(principal)),
    })
    this.ended = this.#end()
    // The caller awaits it later; until then a rejection is not unhandled.
    this.ended.catch(() => undefined)
  }

  get urls(): readonly string[] {
    return this.#ports.urls
  }

  get remark(): string | undefined {
    return this.#ports.remark
  }

  async open({ background = false, access = ONLY_LOOPBACK }: ServeOptions): Promise<void> {
    const { socket } = this
    const { log, sessions } = this.#owner
    const cluster = await this.#owner.cluster()
    cluster?.begin(
      (principal) => this.#context(principal),
      () => this.#sessions,
    )
    if (cluster !== undefined) this.#clients.serveBy((wire, context) => cluster.serveClient(wire, context))
    requirePrivate(socket, { make: true })
    // First, so that who finds the socket finds the ports too.
    await this.#ports.open(this.#config.listen, access)
    const listener: SocketListener = {
      connected: (wire) => void this.#clients.serve(wire, this.#context(LOCAL_USER)),
      report: log.report,
    }
    const passed = passedSocket(this.#config.environment)
    this.#listening = await listenAt(socket, listener, passed).catch((error: unknown) => {
      this.#ports.destroy()
      throw error
    })
    log.note('started', { version: serverInfo.version, socket, background })
    sessions.then(
      (opened) => {
        this.#sessions = opened
        opened.whenDeleted((id) => void this.#seen.forget(id).catch(log.report))
      },
      () => this.stop('the state cannot be served', 0),
    )
    if (background) this.#watch(this.#listening)
  }

  stop(why: string, graceMs = DEFAULT_GRACE_MS): void {
    if (!this.#drain.isStopping) this.#owner.log.note('stopping', { why })
    this.#drain.stop(graceMs)
  }

  uncaught(error: unknown, kind: 'exception' | 'rejection'): string | undefined {
    return this.#uncaught.judge(error, kind)
  }

  #context(principal: ServerContext['principal']): ServerContext {
    const { sessions, agents, clock, log, activity } = this.#owner
    const { serverToken: token, experimental } = this.#config
    return {
      sessions,
      info: serverInfo,
      agents,
      token,
      experimental,
      principal,
      methods: serverMethods(this.#owner, this.#orders(), {
        config: this.#config,
        scope: principal.scope,
        agents: this.#agents,
      }),
      activity,
      seen: this.#seen,
      roots: this.#config.remoteRoots,
      mcpServersOf: (cwd) => this.#owner.mcpServersOf(cwd),
      watchAgents: (changed) => this.#agents.watch(changed),
      stopping: this.#silence.signal,
      draining: this.#drain,
      clock,
      report: log.report,
      untilReplyTimeout: () => this.#owner.after(REPLY_TIMEOUT_MS),
    }
  }

  #orders(): ServerControl {
    const { clock } = this.#owner
    return {
      status: async () => ({
        pid: process.pid,
        version: serverInfo.version,
        socket: this.socket,
        uptimeSeconds: Math.floor((clock.monotonicNow() - this.#started) / 1000),
        // Without the connection that asks.
        clients: this.#clients.count - 1,
        ...this.#census(),
        ...machineUsageOf(this.#config.home),
        agents: (await this.#sessions?.agentProcesses()) ?? [],
        databases: await this.#owner.databases(),
      }),
      listen: (order) => this.#ports.change(order),
      stop: async ({ graceMs, ifIdle = false }) => {
        const { working } = this.#census()
        if (!ifIdle || working === 0) this.stop('asked to', graceMs)
        return { stopping: this.#drain.isStopping, working }
      },
    }
  }

  /** In a cluster a question may be answered here that a session of another node asks. */
  async #everywhere(opened: SessionRegistry) {
    return (await this.#owner.cluster())?.everywhere(opened) ?? opened
  }

  /** The clients of a node hear of the stop while it still passes on what they send, for their sessions are on other nodes. */
  async #leave(cluster: Awaited<ReturnType<Owner['cluster']>>): Promise<void> {
    await cluster?.leave()
    if (cluster === undefined || this.#clients.count === 0) return
    this.#silence.abort()
    await this.#owner.clock.sleep(LAST_WORDS_MS)
  }

  /** No session is live before recovery is over. */
  #census(): SessionCounts {
    return this.#sessions?.counts() ?? { sessions: 0, working: 0, queued: 0, mcpServers: 0 }
  }

  #watch(listening: ListeningSocket): void {
    const watched = {
      clock: this.#owner.clock,
      idleMinutes: this.#config.idleMinutes,
      lastSeen: () => this.#clients.lastSeen,
      isWorking: () => this.#census().working > 0 || this.#ports.isOpen,
      isReachable: () => listening.isReachable(),
    }
    shutDownWhenIdle(watched, (why) => this.stop(why))
  }

  /** In order: turns end, clients are disconnected, child processes and the journal are closed. */
  async #end(): Promise<void> {
    const { log, sessions } = this.#owner
    await this.#drain.drained
    this.#listening?.close()
    this.#ports.close()
    await this.#leave(await this.#owner.cluster())
    // Sessions that never opened have nothing to halt; `await sessions` below rejects for the caller.
    await sessions.then((opened) => opened.halt()).catch(log.report)
    // The client that asked for the stop gets its answer first.
    this.#silence.abort()
    await this.#clients.close()
    this.#ports.destroy()
    await this.#owner.close()
    log.note('stopped')
    await sessions
  }
}

/** How long a client may take to read that the server stops. */
const LAST_WORDS_MS = 1_500
/** How often a drain checks whether turns still run. */
const DRAIN_POLL_MS = 50

/** The time between the order to stop and the stop, in which running turns may end by themselves. */
class Drain {
  readonly #clock: Owner['clock']
  readonly #working: () => number
  /** On the monotonic clock. */
  #deadline: number | undefined
  #begin: () => void = () => undefined
  /** Resolves when no turn runs any more, or the grace is over. */
  readonly drained: Promise<void>
  isStopping = false

  constructor(clock: Owner['clock'], working: () => number) {
    this.#clock = clock
    this.#working = working
    const begun = new Promise<void>((resolve) => (this.#begin = resolve))
    this.drained = begun.then(() => this.#wait())
  }

  /** A second call can only shorten the grace. */
  stop(graceMs: number): void {
    this.isStopping = true
    this.#deadline = Math.min(this.#deadline ?? Infinity, this.#clock.monotonicNow() + graceMs)
    this.#begin()
  }

  async #wait(): Promise<void> {
    while (this.#clock.monotonicNow() < (this.#deadline ?? 0) && this.#working() > 0)
      await this.#clock.sleep(DRAIN_POLL_MS)
  }
}
