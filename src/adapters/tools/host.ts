/** Makes the tool registry of each session: Parley's own servers first, then those that the client named. */
import type { Clock } from '../../ports/clock.ts'
import type { Processes } from '../../ports/process.ts'
import type { McpServer, ToolHost, ToolHostRequest } from '../../ports/tools.ts'
import { DEFAULT_LIMITS, type ClientInfo, type Limits, type Surroundings } from './connection.ts'
import { serverLabels } from './names.ts'
import { openRegistry } from './registry.ts'
import { Server, type ServerConfig } from './server.ts'

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
  return {
    open(request) {
      const configs = configsOf(request, builtin)
      return openRegistry({
        clock: around.clock,
        patienceMs: around.limits.callMs,
        servers: (changed) => configs.map((config) => new Server(config, around, changed)),
      })
    },
  }
}

function configsOf(request: ToolHostRequest, builtin: readonly BuiltinServer[]): readonly ServerConfig[] {
  const labels = serverLabels([...builtin, ...request.servers].map((server) => server.name))
  const { cwd } = request
  const own = builtin.map((server, index): ServerConfig => {
    const label = labels[index] ?? server.name
    const release = async () => server.release?.(request)
    return {
      label,
      title: server.title,
      trusted: true,
      lazy: true,
      cwd,
      locate: () => server.connect(request),
      release,
    }
  })
  const named = request.servers.map((server, index): ServerConfig => {
    const label = labels[builtin.length + index] ?? server.name
    return { label, title: label, trusted: false, lazy: false, cwd, locate: async () => server }
  })
  return [...own, ...named]
}
