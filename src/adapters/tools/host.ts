/** Makes the tool registry of each session: Parley's own servers first, then those that the client named. */
import type { Clock } from '../../ports/clock.ts'
import type { Processes } from '../../ports/process.ts'
import type { McpServer, ToolHost, ToolHostRequest } from '../../ports/tools.ts'
import { DEFAULT_LIMITS, type ClientInfo, type Limits, type Surroundings } from './connection.ts'
import { serverLabels } from './names.ts'
import { openPool } from './pool.ts'
import { openRegistry } from './registry.ts'
import type { ServerConfig } from './server.ts'

/** One of Parley's own servers: trusted, and started when it is first needed. */
export interface BuiltinServer {
  readonly name: string
  readonly title: string
  /** Starts it where necessary and says how to reach it. */
  connect(request: ToolHostRequest): Promise<McpServer>
  /** The registry of this request is closed; what nobody else needs may end. */
  release?(request: ToolHostRequest): Promise<void>
}

export interface ToolHostOptions {
  readonly processes: Processes
  readonly clock: Clock
  /** What we call ourselves to servers. */
  readonly clientInfo: ClientInfo
  readonly builtin?: readonly BuiltinServer[]
  readonly limits?: Partial<Limits>
  /** Told, in a sentence without secrets, what is wrong with a server's tools. */
  readonly warn?: (sentence: string) => void
}

export function openToolHost({ builtin = [], limits, warn = () => undefined, ...rest }: ToolHostOptions): ToolHost {
  const around: Surroundings = { ...rest, warn, limits: { ...DEFAULT_LIMITS, ...limits } }
  const pool = openPool(around)
  return {
    open(request) {
      const configs = configsOf(request, builtin)
      return openRegistry({
        clock: around.clock,
        patienceMs: around.limits.callMs,
        lease: (changed) => configs.map((config) => pool.take(config, changed)),
      })
    },
  }
}

function configsOf(request: ToolHostRequest, builtin: readonly BuiltinServer[]): readonly ServerConfig[] {
  const labels = serverLabels([...builtin, ...request.servers].map((server) => server.name))
  const own = builtin.map((server, index) => ownConfig(server, labels[index] ?? server.name, request))
  const named = request.servers.map((server, index) =>
    namedConfig(server, labels[builtin.length + index] ?? server.name, request),
  )
  return [...own, ...named]
}

function ownConfig(server: BuiltinServer, label: string, request: ToolHostRequest): ServerConfig {
  const { scope, cwd, roots } = request
  return {
    key: JSON.stringify([scope, label, cwd, roots]),
    label,
    title: server.title,
    trusted: true,
    lazy: true,
    cwd,
    locate: () => server.connect(request),
    release: async () => server.release?.(request),
  }
}

function namedConfig(server: McpServer, label: string, { scope, cwd }: ToolHostRequest): ServerConfig {
  const key = JSON.stringify([scope, label, cwd, canonical(server)])
  return { key, label, title: label, trusted: false, lazy: false, cwd, locate: async () => server }
}

/** The order in which variables and headers were named changes nothing. */
function canonical(server: McpServer): unknown {
  if (server.type === 'stdio') return ['stdio', server.command, server.args, Object.entries(server.env).sort(byName)]
  return [server.type, server.url, server.headers.toSorted(byName)]
}

function byName([one]: readonly [string, string], [other]: readonly [string, string]): number {
  return one < other ? -1 : Number(one > other)
}
