/** Opens the tool registry of each session, and knows the state of all servers. */
import type { Activity } from '../../ports/values/activity.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Processes } from '../../ports/process.ts'
import type { McpServer, ServerStatus, ToolHost, ToolHostRequest, ToolRegistry } from '../../ports/tools.ts'
import type { BuiltinToolsets } from '../builtin-tools/toolset/tool.ts'
import type { Checker } from '../checking/checker.ts'
import {
  DEFAULT_LIMITS,
  type ClientInfo,
  type Limits,
  type StartedServer,
  type McpHostContext,
} from '../mcp/host/mcp-types.ts'
import { type CompletionSource, openCompletions, type ArgumentSuggestions, type TypedArgument } from './completions.ts'
import { ProtocolCache } from '../mcp/host/protocol-cache.ts'
import { type ConfiguredServer, serversOf } from './server-sources.ts'
import type { Logins } from '../mcp/oauth/authorization.ts'
import { ConnectQueue } from '../mcp/host/connect-queue.ts'
import { ServerPool } from '../mcp/host/pool.ts'
import { McpToolRegistry } from './mcp-tool-registry.ts'

export interface ToolHostOptions {
  readonly processes: Processes
  readonly clock: Clock
  /** Closed by the caller. */
  readonly checker: Checker
  /** Reports long work to the watchdog, if there is one. */
  readonly activity?: Activity
  /** Parley's name and version for servers. */
  readonly clientInfo: ClientInfo
  /** The builtin tools, once they are loaded; a registry opened earlier has none. */
  readonly own?: () => Pick<BuiltinToolsets, 'open'> | undefined
  readonly limits?: Partial<Limits>
  /** The servers that configuration files name for sessions of this directory, as they are now. Never throws. */
  readonly configured?: (cwd: string) => readonly ConfiguredServer[]
  /** Whether servers may ask the user. */
  readonly elicitation?: boolean
  /** For servers that require a login. */
  readonly logins?: Logins
  /** Shows the user a problem of a server, in a sentence without secrets. */
  readonly warn?: (sentence: string) => void
  /** Called for every server process that is started. */
  readonly started?: (started: StartedServer) => void
}

/** The servers of one session, over all of its registries. */
export interface SessionServers {
  readonly session: string
  readonly servers: readonly ServerStatus[]
}

const UNWATCHED: Activity = { began: () => undefined }

export interface McpHost extends ToolHost {
  live(): readonly SessionServers[]
  /** The names of the servers that a session would have: of clients, and of configuration files. */
  namesFor(session: Pick<ToolHostRequest, 'roots'> & { readonly mcpServers: readonly McpServer[] }): readonly string[]
  /** The servers of a session as they were opened last, without builtin tools; undefined if it has no registry open. */
  serversOf(session: string): ToolRegistry | undefined
  /** Suggestions for the argument of a slash command that the user is typing. */
  complete(session: string, typed: TypedArgument): Promise<ArgumentSuggestions | undefined>
  /** Closes shared servers that wait for further sessions. Call it when all registries are closed. */
  close(): Promise<void>
}

export function openToolHost({ configured = () => [], own, ...options }: ToolHostOptions): McpHost {
  const {
    clock,
    processes,
    checker,
    activity = UNWATCHED,
    clientInfo,
    limits,
    warn = () => undefined,
    elicitation = false,
    logins,
    started,
  } = options
  const context: McpHostContext = {
    clock,
    processes,
    checker,
    activity,
    clientInfo,
    warn,
    elicitation,
    protocolCache: new ProtocolCache(clock),
    connectQueue: new ConnectQueue(clock),
    limits: { ...DEFAULT_LIMITS, ...limits },
    ...(logins && { logins }),
    ...(started && { started }),
  }
  const pool = new ServerPool(context)
  const open = new Map<McpToolRegistry, string>()
  const completions = openCompletions(clock)
  return {
    open(request) {
      const configs = serversOf(request, configured(request.cwd))
      const registry = new McpToolRegistry({
        clock: context.clock,
        connectWaitMs: context.limits.callMs,
        lease: (changed) => configs.map((config) => pool.take(config, changed)),
        onClose: () => void open.delete(registry),
      })
      open.set(registry, request.scope)
      return own?.()?.open(request.scope, registry) ?? registry
    },
    close: () => pool.close(),
    namesFor({ roots, mcpServers: servers }) {
      const cwd = roots[0] ?? '/'
      return serversOf({ scope: '', cwd, roots, servers }, configured(cwd)).map(({ label }) => label)
    },
    serversOf: (session) => [...open].findLast(([, scope]) => scope === session)?.[0],
    complete: (session, typed) =>
      completions(
        session,
        typed,
        [...open].flatMap(([registry, scope]) => (scope === session ? [completing(registry)] : [])),
      ),
    live: () =>
      [...new Set(open.values())].map((session) => {
        const lists = [...open].flatMap(([registry, scope]) => (scope === session ? [registry.list()] : []))
        const servers = lists.flatMap((list) => list.servers)
        return { session, servers: [...new Map(servers.map((server) => [server.name, server])).values()] }
      }),
  }
}

function completing(registry: McpToolRegistry): CompletionSource {
  return {
    list: () => registry.list(),
    complete: (server, wanted, signal) => registry.complete(server, wanted, { signal }),
  }
}
