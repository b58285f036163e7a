/** One server of a registry through its life: waiting, connecting, ready, lost, connected again, closed. */
import { fail, isParleyError, reasonOf, ParleyError } from '../../../errors/parley-error.ts'
import type { Timer } from '../../../ports/clock.ts'
import type { McpServer, ServerStatus, ToolResult } from '../../../ports/tools.ts'
import { NOTHING, type CallOptions, type Connection, type Offer, type McpHostContext } from './mcp-types.ts'
import { LOCKED, LOG_IN, loginTool } from './login-tool.ts'
import type { Authorization } from '../oauth/authorization.ts'
import { permitted, type ServerConfig } from './server-config.ts'
import { unlessAborted } from '../../../async/abort.ts'

type Phase =
  | { readonly state: 'idle' }
  | { readonly state: 'connecting'; readonly done: Promise<void>; readonly abort: AbortController }
  | { readonly state: 'ready'; readonly connection: Connection; readonly since: number }
  /** `retryAt` is on the clock of `elapsed`; `timer` starts it by itself. */
  | { readonly state: 'failed'; readonly reason: string; readonly retryAt: number; readonly timer?: Timer }
  /** Until somebody has logged in; `timer` looks for that. */
  | { readonly state: 'locked'; readonly reason: string; readonly authorization: Authorization; readonly timer: Timer }
  | { readonly state: 'closed' }

/** Enough for the answer to a request that is under way. */
const BREATH_MS = 10

export class McpServerLifecycle {
  readonly config: ServerConfig
  readonly #context: McpHostContext
  readonly #changed: () => void
  readonly #restarts: Restarts
  /** Connections of no more use that still wait for answers. */
  readonly #draining = new Set<Connection>()
  #phase: Phase = { state: 'idle' }
  #title: string
  #known: Offer | undefined
  #staticOffer: Offer | undefined
  #readingStaticTools: Promise<void> | undefined
  #roots: readonly string[]
  #located: McpServer | undefined
  /** What was read over connections that were lost. */
  #watched: readonly string[] = []

  /** `changed` is called when the state or what it offers did. */
  constructor(config: ServerConfig, context: McpHostContext, changed: () => void) {
    this.config = config
    this.#context = context
    this.#changed = changed
    this.#title = config.title
    this.#roots = config.roots
    const { restartPausesMs: pausesMs, steadyMs } = context.limits
    this.#restarts = countRestarts({ pausesMs, steadyMs, forEver: !config.isProcess })
  }

  status(): ServerStatus {
    const phase = this.#phase
    const state = phase.state === 'locked' ? 'failed' : phase.state
    const tools = state === 'failed' ? 0 : this.offer().tools.length
    const status = { name: this.config.label, title: this.#title, state, tools }
    if (phase.state === 'failed' || phase.state === 'locked') return { ...status, reason: phase.reason }
    if (phase.state !== 'ready') return status
    const { about } = phase.connection
    return { ...status, ...about.speaks, latencyMs: phase.connection.latencyMs() }
  }

  /** What it offers, as long as it can be asked for it. */
  offer(): Offer {
    if (this.#phase.state === 'locked') return this.#context.elicitation ? LOCKED : NOTHING
    if (this.#phase.state === 'ready') return this.known()
    const isComing = this.#phase.state === 'idle' || this.#phase.state === 'connecting'
    return (isComing ? this.#staticOffer : undefined) ?? NOTHING
  }

  /** What it offers, or did when it was lost. */
  known(): Offer {
    const known = this.#known ?? this.#staticOffer ?? NOTHING
    return this.#phase.state === 'locked' ? { ...known, tools: [LOG_IN, ...known.tools] } : known
  }

  /** Makes its offer known, for which it need not be connected if it can be foreseen. */
  prepare(): void {
    if (this.#phase.state === 'ready') return this.#phase.connection.refreshIfStale()
    if (this.config.staticTools === undefined || this.#phase.state !== 'idle') return this.start()
    if (this.#staticOffer === undefined) this.#readingStaticTools ??= this.#readStaticTools(this.config.staticTools)
  }

  /** Connects it, also again after it was lost, unless it has to wait. */
  start(): void {
    if (this.#mayStart()) this.#connectNow()
  }

  /** Somebody names it anew: it gets every chance that it had at first. */
  revive(): void {
    if (this.#phase.state !== 'failed' && this.#phase.state !== 'locked') return
    this.#restarts.forgive()
    this.#connectNow()
  }

  /** Those who share it have another root set now. */
  follow(roots: readonly string[]): void {
    if (JSON.stringify(roots) === JSON.stringify(this.#roots)) return
    this.#roots = roots
    if (this.#phase.state === 'ready') this.#phase.connection.rootsChanged()
  }

  /** Resolves when it is not connecting. */
  async settled(): Promise<void> {
    await this.#readingStaticTools
    if (this.#phase.state === 'connecting') await this.#phase.done
  }

  /** Does `work` on its connection, connecting first where needed. Throws what `ToolRegistry.call` throws. */
  async use<Result>(options: CallOptions, work: (connection: Connection) => Promise<Result>): Promise<Result> {
    // Whoever calls a tool that was listed before the login ended is asked as if the call had met that.
    if (this.#phase.state === 'locked' && options.onElicit !== undefined) await this.logIn(options)
    const connection = await unlessCancelled(this.#connected(options.name), options)
    try {
      return await work(connection)
    } catch (error) {
      const same = this.#phase.state === 'ready' && this.#phase.connection === connection
      if (same || !isParleyError(error, 'TOOL_NOT_RUN') || options.signal.aborted) throw error
      await options.onRetry?.(error.message)
    }
    // It provably did not run because the connection was dead before we knew: a new one deserves one try.
    return await work(await unlessCancelled(this.#connected(options.name), options))
  }

  /** Sends the person for whom we work to the page where they log in; what is called then is `LOG_IN`. */
  async logIn(options: CallOptions): Promise<ToolResult> {
    if (this.#phase.state !== 'locked')
      return { content: [{ type: 'text', text: 'Nobody has to log in.' }], isError: false }
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
    await this.config.release?.()
  }

  async #readStaticTools(staticTools: () => Promise<readonly unknown[]>): Promise<void> {
    try {
      const [listed, { cleanTools }] = await Promise.all([staticTools(), import('../client/lists/tool-list.ts')])
      this.#staticOffer = permitted({ ...NOTHING, tools: cleanTools(listed).tools }, this.config.rules)
      if (this.#phase.state !== 'closed') this.#changed()
    } catch {
      // Whatever it is, starting it says so.
      this.start()
    } finally {
      this.#readingStaticTools = undefined
    }
  }

  #mayStart(): boolean {
    if (this.#phase.state === 'idle') return true
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
      // Closing came while the server answered.
      if (signal.aborted) await connection.close()
    } catch (error) {
      if (isParleyError(error, 'MCP_LOGIN')) this.#lock(error.message)
      else this.#failed(isParleyError(error) ? error.message : reasonOf(error))
    }
  }

  /** Starting a process stops this one for some milliseconds: the answer to `session/new` goes first. */
  async #openInTurn(signal: AbortSignal): Promise<Connection> {
    if (this.config.lazy) return await this.#open(signal)
    await this.#context.clock.sleep(BREATH_MS, signal)
    const over = await this.#context.connectQueue.turn(this.config.session, signal)
    try {
      return await this.#open(signal)
    } finally {
      over()
    }
  }

  async #open(signal: AbortSignal): Promise<Connection> {
    const { label, session, cwd, rules, locate, isConfigured, login } = this.config
    const server = await locate()
    this.#located = server
    // The protocol's code costs a tenth of a second; only who has a server pays for it.
    const mcp = await import('../client/connect/connect.ts')
    let lost: string | undefined
    const onLost = (reason: string): void => {
      lost = reason
      this.#lose(reason)
    }
    const events = { onOffer: () => this.#relisted(), onLost, roots: () => this.#roots, watched: this.#watched }
    const connection = await mcp.connect(
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
    // It may have gone in the very moment in which it came.
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

  /** Nobody has to say it again: whoever logs in, wherever, lets it go on. */
  #lock(reason: string): void {
    const located = this.#located
    const { logins } = this.#context
    if (logins === undefined || located === undefined || located.type === 'stdio') return this.#failed(reason)
    const authorization = logins.at(located, this.config.login)
    const timer = authorization.onChange(() => this.#connectNow())
    this.#enter({ state: 'locked', reason, authorization, timer })
  }

  /** A server that never worked is tried again only when somebody wants it. */
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
      return this.#enter({ state: 'failed', reason: given, retryAt: clock.monotonicNow() + limits.restMs })
    }
    // Whoever needs it need not wait after the first loss, nor where trying costs no process.
    const retryAt =
      this.#restarts.count > 1 && this.config.isProcess ? clock.monotonicNow() + pause : clock.monotonicNow()
    const timer = this.config.lazy ? undefined : clock.setTimer(pause, () => this.#connectNow())
    this.#enter({ state: 'failed', reason, retryAt, ...(timer && { timer }) })
  }

  async #connected(name: string): Promise<Connection> {
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
  /** Whoever ran this long is not counted as lost in a row. */
  readonly steadyMs: number
  /** Whether the last pause holds for ever after, or no restart follows it. */
  readonly forEver: boolean
}

interface Restarts {
  /** It was lost after a life of `livedMs`: how long to wait now, or undefined when it was lost too often. */
  lost(livedMs: number): number | undefined
  /** How often it was lost in a row. */
  readonly count: number
  /** Somebody asks for it anew: what was is forgotten. */
  forgive(): void
}

function countRestarts({ pausesMs, steadyMs, forEver }: RestartRules): Restarts {
  let count = 0
  return {
    lost(livedMs) {
      count = livedMs >= steadyMs ? 1 : count + 1
      return pausesMs[count - 1] ?? (forEver ? pausesMs.at(-1) : undefined)
    },
    get count() {
      return count
    },
    forgive() {
      count = 0
    },
  }
}
