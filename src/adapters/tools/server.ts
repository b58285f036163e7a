/** One server of a registry through its life: waiting, connecting, ready, lost, connected again, closed. */
import { fail, isParleyError, reasonOf } from '../../errors/parley-error.ts'
import type { McpServer, ServerStatus, ToolResult } from '../../ports/tools.ts'
import type { CallOptions, Connection, ServerTool, Surroundings } from './connection.ts'

export interface ServerConfig {
  /** Equal for what may share one connection. */
  readonly key: string
  /** Its name, unlike that of any other server of the registry. */
  readonly label: string
  readonly title: string
  readonly trusted: boolean
  /** It waits for its first use. */
  readonly lazy: boolean
  readonly cwd: string
  /** How to reach it; Parley's own servers are started by this. */
  readonly locate: () => Promise<McpServer>
  /** Called once, when it will not be located again. */
  readonly release?: () => Promise<void>
}

type Phase =
  | { readonly state: 'idle' }
  | { readonly state: 'connecting'; readonly done: Promise<void>; readonly abort: AbortController }
  | { readonly state: 'ready'; readonly connection: Connection }
  /** `retryAt` is on the clock of `elapsed`; a server that never worked has none. */
  | { readonly state: 'failed'; readonly reason: string; readonly retryAt?: number }
  | { readonly state: 'closed' }

/** Enough for the answer to a request that is under way. */
const BREATH_MS = 10
/** A server that could not be connected again is not tried at every turn. */
const RETRY_MS = 30_000

export class Server {
  readonly config: ServerConfig
  readonly #around: Surroundings
  readonly #changed: () => void
  /** Connections of no more use that still wait for answers. */
  readonly #retired = new Set<Connection>()
  #phase: Phase = { state: 'idle' }
  #title: string
  #known: readonly ServerTool[] | undefined

  /** `changed` is called when the state or the tools did. */
  constructor(config: ServerConfig, around: Surroundings, changed: () => void) {
    this.config = config
    this.#around = around
    this.#changed = changed
    this.#title = config.title
  }

  status(): ServerStatus {
    const status = { name: this.config.label, title: this.#title, state: this.#phase.state, tools: this.tools().length }
    return this.#phase.state === 'failed' ? { ...status, reason: this.#phase.reason } : status
  }

  /** Its tools, as long as it can be called. */
  tools(): readonly ServerTool[] {
    return this.#phase.state === 'ready' ? this.knownTools() : []
  }

  /** Its tools, or what they were when it was lost. */
  knownTools(): readonly ServerTool[] {
    return this.#known ?? []
  }

  /** Connects it, also again after it was lost. Not again when it never worked. */
  start(): void {
    if (!this.#mayStart()) return
    const abort = new AbortController()
    this.#enter({ state: 'connecting', abort, done: this.#connect(abort.signal) })
  }

  /** Resolves when it is not connecting. */
  async settled(): Promise<void> {
    if (this.#phase.state === 'connecting') await this.#phase.done
  }

  /** Connects first where needed. Throws what `ToolRegistry.call` throws. */
  async call(tool: ServerTool, args: unknown, options: CallOptions): Promise<ToolResult> {
    const connection = await unlessCancelled(this.#connected(options.name), options)
    try {
      return await connection.call(tool, args, options)
    } catch (error) {
      const same = this.#phase.state === 'ready' && this.#phase.connection === connection
      if (same || !isParleyError(error, 'TOOL_NOT_RUN') || options.signal.aborted) throw error
    }
    // It provably did not run because the connection was dead before we knew: a new one deserves one try.
    const next = await unlessCancelled(this.#connected(options.name), options)
    return await next.call(tool, args, options)
  }

  async close(): Promise<void> {
    const before = this.#phase
    this.#enter({ state: 'closed' })
    if (before.state === 'connecting') {
      before.abort.abort()
      await before.done
    }
    if (before.state === 'ready') await before.connection.close()
    await Promise.all([...this.#retired].map((connection) => connection.close()))
    await this.config.release?.()
  }

  #mayStart(): boolean {
    if (this.#phase.state === 'idle') return true
    return this.#phase.state === 'failed' && (this.#phase.retryAt ?? Infinity) <= this.#around.clock.elapsed()
  }

  #enter(next: Phase): void {
    if (this.#phase.state === 'closed') return
    this.#phase = next
    this.#changed()
  }

  async #connect(signal: AbortSignal): Promise<void> {
    try {
      const connection = await this.#open(signal)
      // Closing came while the server answered.
      if (signal.aborted) await connection.close()
    } catch (error) {
      const reason = isParleyError(error) ? error.message : reasonOf(error)
      const again = this.#known === undefined ? {} : { retryAt: this.#around.clock.elapsed() + RETRY_MS }
      this.#enter({ state: 'failed', reason, ...again })
    }
  }

  async #open(signal: AbortSignal): Promise<Connection> {
    const { label, cwd, lazy, locate } = this.config
    // Starting a process stops this one for some milliseconds: the answer to `session/new` goes first.
    if (!lazy) await this.#around.clock.sleep(BREATH_MS, signal)
    const server = await locate()
    // The protocol's code costs a tenth of a second; only who has a server pays for it.
    const mcp = await import('./mcp/connect.ts')
    let lost: string | undefined
    const onLost = (reason: string): void => {
      lost = reason
      this.#lose(reason)
    }
    const events = { onTools: () => this.#relisted(), onLost }
    const connection = await mcp.connect({ server, label, cwd, signal, ...events }, this.#around)
    this.#title = connection.title
    this.#known = connection.tools()
    this.#enter({ state: 'ready', connection })
    // It may have gone in the very moment in which it came.
    if (lost !== undefined) this.#lose(lost)
    return connection
  }

  #relisted(): void {
    if (this.#phase.state !== 'ready') return
    this.#known = this.#phase.connection.tools()
    this.#changed()
  }

  #lose(reason: string): void {
    if (this.#phase.state !== 'ready') return
    const { connection } = this.#phase
    this.#retired.add(connection)
    void connection.retire().then(() => this.#retired.delete(connection))
    const sentence = `MCP server ${this.config.label} was lost: ${reason}.`
    this.#enter({ state: 'failed', reason: sentence, retryAt: this.#around.clock.elapsed() })
  }

  async #connected(name: string): Promise<Connection> {
    this.start()
    await this.settled()
    if (this.#phase.state === 'ready') return this.#phase.connection
    const reason = this.#phase.state === 'failed' ? this.#phase.reason.replace(/\.$/, '') : 'its server is closed'
    return fail('TOOL_NOT_RUN', { tool: name, reason })
  }
}

/** Waiting for a server ends with the wish for the call. */
async function unlessCancelled<Result>(work: Promise<Result>, { signal, name }: CallOptions): Promise<Result> {
  let stop = (): void => undefined
  const cancelled = new Promise<'cancelled'>((resolve) => {
    stop = () => resolve('cancelled')
    signal.addEventListener('abort', stop, { once: true })
  })
  if (signal.aborted) stop()
  const first = await Promise.race([cancelled, work])
  signal.removeEventListener('abort', stop)
  return first === 'cancelled'
    ? fail('TOOL_NOT_RUN', { tool: name, reason: 'it was cancelled before it began' })
    : first
}
