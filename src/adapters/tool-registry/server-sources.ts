/** Which servers a registry has, of Parley itself, of clients and of configuration, and what makes two of them the same. */
import type { McpServer, ToolHostRequest } from '../../ports/tools.ts'
import type { LoginSettings } from '../mcp/oauth/authorization.ts'
import { serverLabels } from './names.ts'
import type { ServerRules, ServerConfig } from '../mcp/host/server-config.ts'

/** One of Parley's own servers: trusted, and started when it is first needed. */
export interface BuiltinServer {
  readonly name: string
  readonly title: string
  /** Starts it where necessary and says how to reach it. */
  connect(request: ToolHostRequest): Promise<McpServer>
  /** What it will list, where that is known without it: then it starts with the first call, and nobody waits for it before. */
  tools?(request: ToolHostRequest): Promise<readonly unknown[]>
  /** The registry of this request is closed; what nobody else needs may end. */
  release?(request: ToolHostRequest): Promise<void>
}

/** What people configured under a name. */
export interface ConfiguredServer {
  readonly name: string
  /** For a server that a client names so. */
  readonly rules: ServerRules
  /** A server that joins every session in which no client names another so. */
  readonly joins?: {
    readonly rules: ServerRules
    readonly isProcess: boolean
    /** Equal for what is the same server. */
    readonly identity: string
    readonly login?: LoginSettings
    /** How to reach it now. Throws, in a sentence without secrets, why it may not or cannot be. */
    locate(): Promise<McpServer>
  }
}

interface Known {
  readonly builtin: readonly BuiltinServer[]
  readonly configured: readonly ConfiguredServer[]
}

/** Parley's own first, then those that clients named, then those of the configuration. */
export function serversOf(request: ToolHostRequest, { builtin, configured }: Known): readonly ServerConfig[] {
  const named = new Set(request.servers.map(({ name }) => name))
  const all = [
    ...builtin.map((server) => ({ name: server.name, make: (label: string) => ownConfig(server, label, request) })),
    ...request.servers.map((server) => ({
      name: server.name,
      make: (label: string) => namedConfig(server, { label, request, rules: rulesFor(server.name, configured) }),
    })),
    ...configured.flatMap(({ name, joins }) =>
      joins === undefined || named.has(name)
        ? []
        : [{ name, make: (label: string) => joiningConfig(joins, { label, request, rules: joins.rules }) }],
    ),
  ]
  const labels = serverLabels(all.map(({ name }) => name))
  return all.map(({ name, make }, index) => make(labels[index] ?? name))
}

function rulesFor(name: string, configured: readonly ConfiguredServer[]): ServerRules {
  return configured.find((one) => one.name === name)?.rules ?? {}
}

function ownConfig(server: BuiltinServer, label: string, request: ToolHostRequest): ServerConfig {
  const { scope, cwd, roots } = request
  return {
    label,
    session: scope,
    cwd,
    roots,
    title: server.title,
    trusted: true,
    lazy: true,
    isProcess: false,
    isConfigured: false,
    isShared: false,
    rules: {},
    key: JSON.stringify([scope, label, cwd, roots]),
    locate: () => server.connect(request),
    ...(server.tools && { staticTools: async () => (await server.tools?.(request)) ?? [] }),
    release: async () => server.release?.(request),
  }
}

interface Place {
  readonly label: string
  readonly request: ToolHostRequest
  readonly rules: ServerRules
}

function namedConfig(server: McpServer, place: Place): ServerConfig {
  return strange(place, {
    isProcess: server.type === 'stdio',
    isConfigured: false,
    identity: canonical(server),
    locate: async () => server,
  })
}

function joiningConfig(joins: NonNullable<ConfiguredServer['joins']>, place: Place): ServerConfig {
  return strange(place, {
    isProcess: joins.isProcess,
    isConfigured: true,
    ...(joins.login && { login: joins.login }),
    identity: ['configured', joins.identity],
    locate: () => joins.locate(),
  })
}

/** Who other rules are for is another server, even where the process would be the same. */
function strange(
  { label, request: { scope, cwd, roots }, rules }: Place,
  {
    identity,
    ...how
  }: Pick<ServerConfig, 'isProcess' | 'isConfigured' | 'login' | 'locate'> & { readonly identity: unknown },
): ServerConfig {
  const { isProcess } = how
  const isShared = rules.shared ?? !isProcess
  // Whoever works elsewhere has other roots to tell of, and a process starts in its directory.
  const key = JSON.stringify(
    isShared ? ['shared', label, roots, identity, rules] : [scope, label, cwd, identity, rules],
  )
  return { isShared, ...how, label, session: scope, cwd, roots, rules, key, title: label, trusted: false, lazy: false }
}

/** The order in which variables and headers were named changes nothing. */
function canonical(server: McpServer): unknown {
  if (server.type === 'stdio') return ['stdio', server.command, server.args, Object.entries(server.env).sort(byName)]
  return [server.type, server.url, server.headers.toSorted(byName)]
}

function byName([one]: readonly [string, string], [other]: readonly [string, string]): number {
  return one < other ? -1 : Number(one > other)
}
