/** Makes the tool registry of each session: Parley's own servers first, then those that the client named. */
import type { Clock } from '../../ports/clock.ts'
import type { Processes } from '../../ports/process.ts'
import type { McpServer, ToolHost, ToolHostRequest } from '../../ports/tools.ts'
import { DEFAULT_LIMITS, type ClientInfo, type Limits, type Surroundings } from './connection.ts'
import { openEras } from './eras.ts'
import { serverLabels } from './names.ts'
import { openPool } from './pool.ts'
import { Registry } from './registry.ts'
import type { ServerRules } from './rules.ts'
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
  /** By the name under which a client or a configuration names the server. */
  readonly rules?: Readonly<Record<string, ServerRules>>
  /** Whether calls will come with somebody whom servers may ask. */
  readonly elicitation?: boolean
  /** Who lets us in at a server that asks for authorization. */
  readonly authorize?: Surroundings['authorize']
  /** Told, in a sentence without secrets, what is wrong with a server's tools. */
  readonly warn?: (sentence: string) => void
}

export function openToolHost({ builtin = [], rules = {}, ...options }: ToolHostOptions): ToolHost {
  const { clock, processes, clientInfo, limits, warn = () => undefined, elicitation = false, authorize } = options
  const around: Surroundings = {
    clock,
    processes,
    clientInfo,
    warn,
    elicitation,
    eras: openEras(clock),
    limits: { ...DEFAULT_LIMITS, ...limits },
    ...(authorize && { authorize }),
  }
  const pool = openPool(around)
  return {
    open(request) {
      const configs = configsOf(request, builtin, rules)
      return new Registry({
        clock: around.clock,
        patienceMs: around.limits.callMs,
        lease: (changed) => configs.map((config) => pool.take(config, changed)),
      })
    },
  }
}

function configsOf(
  request: ToolHostRequest,
  builtin: readonly BuiltinServer[],
  rules: Readonly<Record<string, ServerRules>>,
): readonly ServerConfig[] {
  const labels = serverLabels([...builtin, ...request.servers].map((server) => server.name))
  const own = builtin.map((server, index) => ownConfig(server, labels[index] ?? server.name, request))
  const named = request.servers.map((server, index) => ({
    ...namedConfig(server, labels[builtin.length + index] ?? server.name, request),
    rules: rules[server.name] ?? {},
  }))
  return [...own, ...named]
}

function ownConfig(server: BuiltinServer, label: string, request: ToolHostRequest): ServerConfig {
  const { scope, cwd, roots } = request
  return {
    label,
    cwd,
    roots,
    title: server.title,
    trusted: true,
    lazy: true,
    isProcess: false,
    rules: {},
    key: JSON.stringify([scope, label, cwd, roots]),
    locate: () => server.connect(request),
    release: async () => server.release?.(request),
  }
}

function namedConfig(
  server: McpServer,
  label: string,
  { scope, cwd, roots }: ToolHostRequest,
): Omit<ServerConfig, 'rules'> {
  return {
    label,
    cwd,
    roots,
    title: label,
    trusted: false,
    lazy: false,
    isProcess: server.type === 'stdio',
    key: JSON.stringify([scope, label, cwd, canonical(server)]),
    locate: async () => server,
  }
}

/** The order in which variables and headers were named changes nothing. */
function canonical(server: McpServer): unknown {
  if (server.type === 'stdio') return ['stdio', server.command, server.args, Object.entries(server.env).sort(byName)]
  return [server.type, server.url, server.headers.toSorted(byName)]
}

function byName([one]: readonly [string, string], [other]: readonly [string, string]): number {
  return one < other ? -1 : Number(one > other)
}
