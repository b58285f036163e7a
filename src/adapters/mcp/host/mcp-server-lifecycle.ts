/** The life cycle of one server: connecting, ready, failed, connected again, closed. */
import { fail, isParleyError, reasonOf, ParleyError } from '../../../errors/parley-error.ts'
import type { Timer } from '../../../ports/clock.ts'
import type { McpServer, ServerStatus, ToolResult } from '../../../ports/tools.ts'
import {
  EMPTY_SERVER_OFFER,
  type CallOptions,
  type ServerConnection,
  type ServerOffer,
  type McpHostContext,
} from './mcp-types.ts'
import { LOCKED, LOG_IN, loginTool } from './login-tool.ts'
import type { Authorization } from '../oauth/authorization.ts'
import { permitted, type ServerConfig } from './server-config.ts'
import { unlessAborted } from '../../../async/abort.ts'

type Phase =
  /** It was made, and `start` was not called yet. */
  | { readonly state: 'unstarted' }
  | { readonly state: 'connecting'; readonly done: Promise<void>; readonly abort: AbortController }
  | { readonly state: 'ready'; readonly connection: ServerConnection; readonly since: number }
  /** `retryAt` is a time of `monotonicNow`; `timer` restarts the server by itself. */
  | { readonly state: 'failed'; readonly reason: string; readonly retryAt: number; readonly timer?: Timer }
  /** The server requires a login; `timer` watches for one. */
  | { readonly state: 'locked'; readonly reason: string; readonly authorization: Authorization; readonly timer: Timer }
  | { readonly state: 'closed' }

const PUBLIC_STATE = {
  unstarted: 'connecting',
  connecting: 'connecting',
  ready: 'ready',
  failed: 'failed',
  locked: 'failed',
  closed: 'closed',
} as const satisfies Record<Phase['state'], ServerStatus['state']>

/** Delay before a server is started, so that the answer to a running request goes first. */
const START_DELAY_MS = 10

export class McpServerLifecycle {
  readonly config: ServerConfig
  readonly #context: McpHostContext
  readonly #changed: () => void
  readonly #restarts: Restarts
  /** Lost connections that still wait for answers. */
  readonly #draining = new Set<ServerConnection>()
  #phase: Phase = { state: 'unstarted' }
  #title: string
  #known: ServerOffer | undefined
  #roots: readonly string[]
  #located: McpServer | undefined
  /** Resources that were read over connections that were lost. */
  #watched: readonly string[] = []

  /** `changed` is called when the state or the offer changes. */
  constructor(config: ServerConfig, context: McpHostContext, changed: () => void) {
    this.config = config
    this.#context = context
    this.#changed = changed
    this.#title = config.label
    this.#roots = config.roots
    const { restartPausesMs: pausesMs, steadyMs } = context.limits
    this.#restarts = new Restarts({ pausesMs, steadyMs, forever: !config.isProcess })
  }

  status(): ServerStatus {
    const phase = this.#phase
    const state = PUBLIC_STATE[phase.state]
    const tools = state === 'failed' ? 0 : this.offer().tools.length
    const status = { name: this.config.label, title: this.#title, state, tools }
    if (phase.state === 'failed' || phase.state === 'locked') return { ...status, reason: phase.reason }
    if (phase.state !== 'ready') return status
    const { about } = phase.connection
    return { ...status, ...about.speaks, latencyMs: phase.connection.latencyMs() }
  }

  /** The tools, prompts and resources that can be used now; empty while the server cannot be called. */
  offer(): ServerOffer {
    if (this.#phase.state === 'locked') return this.#context.elicitation ? LOCKED : EMPTY_SERVER_OFFER
    return this.#phase.state === 'ready' ? this.known() : EMPTY_SERVER_OFFER
  }

  /** The present offer of the server, or the last one before its connection was lost. */
  known(): ServerOffer {
    const known = this.#known ?? EMPTY_SERVER_OFFER
    return this.#phase.state === 'locked' ? { ...known, tools: [LOG_IN, ...known.tools] } : known
  }

  /** Makes its offer known and current. */
  prepare(): void {
    if (this.#phase.state === 'ready') this.#phase.connection.refreshIfStale()
    else this.start()
  }

  /** Connects it, also after it was lost, unless it has to wait for a retry. */
  start(): void {
    if (this.#mayStart()) this.#connectNow()
  }

  /** Called when another session configures the server: resets its failures and connects again. */
  revive(): void {
    if (this.#phase.state !== 'failed' && this.#phase.state !== 'locked') return
    this.#restarts.reset()
    this.#connectNow()
  }

  /** Called when the root set of its sessions changes. */
  follow(roots: readonly string[]): void {
    if (JSON.stringify(roots) === JSON.stringify(this.#roots)) return
    this.#roots = roots
    if (this.#phase.state === 'ready') this.#phase.connection.rootsChanged()
  }

  /** Resolves when it is not connecting. */
  async settled(): Promise<void> {
    if (this.#phase.state === 'connecting') await this.#phase.done
  }

  /** Does `work` on its connection, connecting first where needed. Throws what `ToolRegistry.call` throws. */
  async use<Result>(options: CallOptions, work: (connection: ServerConnection) => Promise<Result>): Promise<Result> {
    // The tool was listed before the login expired: the user is asked to log in, as if the call had been refused.
    if (this.#phase.state === 'locked' && options.onElicit !== undefined) await this.logIn(options)
    const connection = await unlessCancelled(this.#connected(options.name), options)
    try {
      return await work(connection)
    } catch (error) {
      const same = this.#phase.state === 'ready' && this.#phase.connection === connection
      if (same || !isParleyError(error, 'TOOL_NOT_RUN') || options.signal.aborted) throw error
      await options.onRetry?.(error.message)
    }
    // The call did not run because the connection was already dead, so it is tried once over a new one.
    return await work(await unlessCancelled(this.#connected(options.name), options))
  }

  /** Runs the `LOG_IN` tool: sends the user to the login page and connects afterwards. */
  async logIn(options: CallOptions): Promise<ToolResult> {
    if (this.#phase.state !== 'locked')
      return { content: [{ type: 'text', text: 'No login is required.' }], isError: false }
    const { authorization, reason } = this.#phase
    const connect = async (): Promise<string | undefined> => {
      if (this.#phase.state === 'locked') this.#connectNow()
      await unlessCancelled(this.settled(), options)
      return this.status().reason
    }
    return await loginTool({ label: this.config.label, authorization, reason, connect }, options)
  }

  async close(): Promise<void> {
    const before = this.#phase
    this.#enter({ state: 'closed' })
    if (before.state === 'connecting') {
      before.abort.abort()
      await before.done
    }
    if (before.state === 'ready') await before.connection.close()
    await Promise.all([...this.#draining].map((connection) => connection.close()))
  }

  #mayStart(): boolean {
    if (this.#phase.state === 'unstarted') return true
    if (this.#phase.state !== 'failed') return false
    return this.#phase.retryAt <= this.#context.clock.monotonicNow()
  }

  #connectNow(): void {
    if (this.#phase.state === 'closed') return
    const abort = new AbortController()
    this.#enter({ state: 'connecting', abort, done: this.#connect(abort.signal) })
  }

  #enter(next: Phase): void {
    if (this.#phase.state === 'closed') return
    if (this.#phase.state === 'failed' || this.#phase.state === 'locked') this.#phase.timer?.cancel()
    this.#phase = next
    this.#changed()
  }

  async #connect(signal: AbortSignal): Promise<void> {
    try {
      const connection = await this.#openInTurn(signal)
      // It was closed while the server answered.
      if (signal.aborted) await connection.close()
    } catch (error) {
      if (isParleyError(error, 'MCP_LOGIN')) this.#lock(error.message)
      else this.#failed(isParleyError(error) ? error.message : reasonOf(error))
    }
  }

  /** Starting a process blocks this one for some milliseconds, so the answer to `session/new` goes first. */
  async #openInTurn(signal: AbortSignal): Promise<ServerConnection> {
    await this.#context.clock.sleep(START_DELAY_MS, signal)
    const over = await this.#context.connectQueue.turn(this.config.session, signal)
    try {
      return await this.#open(signal)
    } finally {
      over()
    }
  }

  async #open(signal: AbortSignal): Promise<ServerConnection> {
    const { label, session, cwd, rules, locate, isConfigured, login } = this.config
    const server = await locate()
    this.#located = server
    // The MCP code takes a tenth of a second to load, so only sessions with servers load it.
    const mcp = await import('../client/connect/connect.ts')
    let lost: string | undefined
    const onLost = (reason: string): void => {
      lost = reason
      this.#lose(reason)
    }
    const events = { onOffer: () => this.#relisted(), onLost, roots: () => this.#roots, watched: this.#watched }
    const connection = await mcp.connectServer(
      {
        server,
        label,
        session,
        cwd,
        signal,
        isConfigured,
        protocol: rules.protocol ?? 'auto',
        ...(login && { login }),
        ...events,
      },
      this.#context,
    )
    this.#title = connection.about.title
    this.#known = permitted(connection.offer(), this.config.rules)
    this.#enter({ state: 'ready', connection, since: this.#context.clock.monotonicNow() })
    // The connection may already be lost.
    if (lost !== undefined) this.#lose(lost)
    return connection
  }

  #relisted(): void {
    if (this.#phase.state !== 'ready') return
    this.#known = permitted(this.#phase.connection.offer(), this.config.rules)
    this.#changed()
  }

  #lose(reason: string): void {
    if (this.#phase.state !== 'ready') return
    const { connection, since } = this.#phase
    this.#watched = connection.watched()
    this.#draining.add(connection)
    void connection.drain().then(() => this.#draining.delete(connection))
    this.#waitAfter(`MCP server ${this.config.label} was lost: ${reason}.`, this.#context.clock.monotonicNow() - since)
  }

  /** A login in any session or process unlocks the server. */
  #lock(reason: string): void {
    const located = this.#located
    const { logins } = this.#context
    if (logins === undefined || located === undefined || located.type === 'stdio') return this.#failed(reason)
    const authorization = logins.at(located, this.config.login)
    const timer = authorization.onChange(() => this.#connectNow())
    this.#enter({ state: 'locked', reason, authorization, timer })
  }

  /** A server that never worked is tried again only when a session needs it. */
  #failed(reason: string): void {
    const { clock, limits } = this.#context
    if (this.#known === undefined)
      this.#enter({ state: 'failed', reason, retryAt: clock.monotonicNow() + limits.retryMs })
    else this.#waitAfter(reason, 0)
  }

  #waitAfter(reason: string, livedMs: number): void {
    if (this.#phase.state === 'closed') return
    const { clock, limits } = this.#context
    const pause = this.#restarts.lost(livedMs)
    if (pause === undefined) {
      const given = `${reason} It was lost ${this.#restarts.count} times soon after its start and rests for now.`
      return this.#enter({ state: 'failed', reason: given, retryAt: clock.monotonicNow() + limits.cooldownMs })
    }
    // After the first loss, or where a retry costs no process, a session that needs the server need not wait.
    const retryAt =
      this.#restarts.count > 1 && this.config.isProcess ? clock.monotonicNow() + pause : clock.monotonicNow()
    const timer = clock.setTimer(pause, () => this.#connectNow())
    this.#enter({ state: 'failed', reason, retryAt, timer })
  }

  async #connected(name: string): Promise<ServerConnection> {
    this.start()
    await this.settled()
    if (this.#phase.state === 'ready') return this.#phase.connection
    const reason = this.status().reason?.replace(/\.$/, '') ?? 'its server is closed'
    return fail('TOOL_NOT_RUN', { tool: name, reason })
  }
}

/** Throws TOOL_NOT_RUN once the call is cancelled. */
function unlessCancelled<Result>(work: Promise<Result>, { signal, name }: CallOptions): Promise<Result> {
  const reason = 'it was cancelled before it began'
  return unlessAborted(work, signal, () => new ParleyError('TOOL_NOT_RUN', { tool: name, reason }))
}

interface RestartRules {
  /** Milliseconds to wait after each loss in a row. */
  readonly pausesMs: readonly number[]
  /** A server that ran this long is not counted as lost in a row. */
  readonly steadyMs: number
  /** Whether the last pause repeats forever, or no restart follows it. */
  readonly forever: boolean
}

/** How often a server was lost in a row, and how long to wait before it is started again. */
class Restarts {
  readonly #rules: RestartRules
  #count = 0

  constructor(rules: RestartRules) {
    this.#rules = rules
  }

  /** How often it was lost in a row. */
  get count(): number {
    return this.#count
  }

  /** Called after a loss: milliseconds until the restart, or undefined when it was lost too often. */
  lost(livedMs: number): number | undefined {
    const { pausesMs, steadyMs, forever } = this.#rules
    this.#count = livedMs >= steadyMs ? 1 : this.#count + 1
    return pausesMs[this.#count - 1] ?? (forever ? pausesMs.at(-1) : undefined)
  }

  /** Resets the count of earlier losses. */
  reset(): void {
    this.#count = 0
  }
}
