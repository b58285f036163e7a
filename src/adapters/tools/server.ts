/** One server of a registry through its life: waiting, connecting, ready, lost, connected again, closed. */
import { fail, isParleyError, reasonOf } from '../../errors/parley-error.ts'
import type { McpServer, ServerStatus, ToolResult } from '../../ports/tools.ts'
import type { CallOptions, Connection, ServerTool, Surroundings } from './connection.ts'

export interface ServerConfig {
  /** Its name, unlike that of any other server of the registry. */
  readonly label: string
  readonly title: string
  readonly trusted: boolean
  /** It waits for its first use. */
  readonly lazy: boolean
  readonly cwd: string
  /** How to reach it; Parley's own servers are started by this. */
  readonly locate: () => Promise<McpServer>
}

export interface Server {
  readonly config: ServerConfig
  status(): ServerStatus
  /** Its tools, as long as it can be called. */
  tools(): readonly ServerTool[]
  /** Its tools, or what they were when it was lost. */
  knownTools(): readonly ServerTool[]
  /** Connects it, also again after it was lost. Not again when it never worked. */
  start(): void
  /** Resolves when it is not connecting. */
  settled(): Promise<void>
  /** Connects first where needed. Throws what `ToolRegistry.call` throws. */
  call(tool: ServerTool, args: unknown, options: CallOptions): Promise<ToolResult>
  close(): Promise<void>
}

type Phase =
  | { readonly state: 'idle' }
  | { readonly state: 'connecting'; readonly done: Promise<void>; readonly abort: AbortController }
  | { readonly state: 'ready'; readonly connection: Connection }
  /** `retryAt` is on the clock of `elapsed`; a server that never worked has none. */
  | { readonly state: 'failed'; readonly reason: string; readonly retryAt?: number }
  | { readonly state: 'closed' }

/** A server that could not be connected again is not tried at every turn. */
const RETRY_MS = 30_000

export function openServer(config: ServerConfig, around: Surroundings, changed: () => void): Server {
  let phase: Phase = { state: 'idle' }
  let title = config.title
  let known: readonly ServerTool[] | undefined
  const retired = new Set<Connection>()

  function enter(next: Phase): void {
    if (phase.state === 'closed') return
    phase = next
    changed()
  }

  function start(): void {
    if (phase.state === 'idle' || (phase.state === 'failed' && (phase.retryAt ?? Infinity) <= around.clock.elapsed())) {
      const abort = new AbortController()
      enter({ state: 'connecting', abort, done: connect(abort.signal) })
    }
  }

  async function connect(signal: AbortSignal): Promise<void> {
    try {
      const connection = await openConnection(signal)
      if (isClosed()) await connection.close()
    } catch (error) {
      const reason = isParleyError(error) ? error.message : reasonOf(error)
      const again = known === undefined ? {} : { retryAt: around.clock.elapsed() + RETRY_MS }
      enter({ state: 'failed', reason, ...again })
    }
  }

  async function openConnection(signal: AbortSignal): Promise<Connection> {
    const server = await config.locate()
    // The protocol's code costs a tenth of a second; only who has a server pays for it.
    const mcp = await import('./mcp/connect.ts')
    let lost: string | undefined
    const onTools = (): void => {
      if (phase.state !== 'ready') return
      known = phase.connection.tools()
      changed()
    }
    const onLost = (reason: string): void => {
      lost = reason
      lose(reason)
    }
    const connection = await mcp.connect(
      { server, label: config.label, cwd: config.cwd, signal, onTools, onLost },
      around,
    )
    title = connection.title
    known = connection.tools()
    enter({ state: 'ready', connection })
    // It may have gone in the very moment in which it came.
    if (lost !== undefined) lose(lost)
    return connection
  }

  function lose(reason: string): void {
    if (phase.state !== 'ready') return
    const { connection } = phase
    retired.add(connection)
    void connection.retire().then(() => retired.delete(connection))
    enter({
      state: 'failed',
      reason: `MCP server ${config.label} was lost: ${reason}.`,
      retryAt: around.clock.elapsed(),
    })
  }

  async function connected(name: string): Promise<Connection> {
    start()
    if (phase.state === 'connecting') await phase.done
    if (phase.state === 'ready') return phase.connection
    const reason = phase.state === 'failed' ? phase.reason.replace(/\.$/, '') : 'its server is closed'
    return fail('TOOL_NOT_RUN', { tool: name, reason })
  }

  function isClosed(): boolean {
    return phase.state === 'closed'
  }

  return {
    config,
    status: () => statusOf(config.label, title, phase),
    tools: () => (phase.state === 'ready' ? (known ?? []) : []),
    knownTools: () => known ?? [],
    start,
    async settled() {
      if (phase.state === 'connecting') await phase.done
    },
    async call(tool, args, options) {
      const connection = await unlessCancelled(connected(options.name), options)
      try {
        return await connection.call(tool, args, options)
      } catch (error) {
        const same = phase.state === 'ready' && phase.connection === connection
        if (same || !isParleyError(error, 'TOOL_NOT_RUN') || options.signal.aborted) throw error
      }
      // It provably did not run because the connection was dead before we knew: a new one deserves one try.
      const next = await unlessCancelled(connected(options.name), options)
      return await next.call(tool, args, options)
    },
    async close() {
      const before = phase
      enter({ state: 'closed' })
      if (before.state === 'connecting') {
        before.abort.abort()
        await before.done
      }
      if (before.state === 'ready') await before.connection.close()
      await Promise.all([...retired].map((connection) => connection.close()))
    },
  }
}

function statusOf(name: string, title: string, phase: Phase): ServerStatus {
  const tools = phase.state === 'ready' ? phase.connection.tools().length : 0
  const status = { name, title, state: phase.state, tools }
  return phase.state === 'failed' ? { ...status, reason: phase.reason } : status
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
