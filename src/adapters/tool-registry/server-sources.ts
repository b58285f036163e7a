/** Which servers a registry has (Parley's own, those of clients, those of configuration files), and which configurations are the same server. */
import type { McpServer, ToolHostRequest } from '../../ports/tools.ts'
import type { LoginSettings } from '../mcp/oauth/authorization.ts'
import { serverLabels } from './names.ts'
import type { ServerRules, ServerConfig } from '../mcp/host/server-config.ts'

/** One of Parley's own servers: trusted, and started when it is first needed. */
export interface BuiltinServer {
  readonly name: string
  readonly title: string
  /** Starts it if necessary, and returns how to reach it. */
  connect(request: ToolHostRequest): Promise<McpServer>
  /** Its tools, if they are known without starting it: then its first call starts it. */
  tools?(request: ToolHostRequest): Promise<readonly unknown[]>
  /** Called when the registry of this request has closed. */
  release?(request: ToolHostRequest): Promise<void>
}

/** A server in a configuration file. */
export interface ConfiguredServer {
  readonly name: string
  /** Applied to a server of this name that a client declares. */
  readonly rules: ServerRules
  /** Set if the file starts this server in every session, unless a client declares another of this name. */
  readonly joins?: {
    readonly rules: ServerRules
    readonly isProcess: boolean
    /** Equal for configurations of the same server. */
    readonly identity: string
    readonly login?: LoginSettings
    /** How to reach it now. Throws a sentence without secrets if it may not or cannot be started. */
    locate(): Promise<McpServer>
  }
}

interface Known {
  readonly builtin: readonly BuiltinServer[]
  readonly configured: readonly ConfiguredServer[]
}

/** Parley's own servers first, then those of clients, then those of configuration files. */
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

/** With other rules it is another server, even if the process would be the same. */
function strange(
  { label, request: { scope, cwd, roots }, rules }: Place,
  {
    identity,
    ...how
  }: Pick<ServerConfig, 'isProcess' | 'isConfigured' | 'login' | 'locate'> & { readonly identity: unknown },
): ServerConfig {
  const { isProcess } = how
  const isShared = rules.shared ?? !isProcess
  // Another directory means other roots, and a process starts in its directory.
  const key = JSON.stringify(
    isShared ? ['shared', label, roots, identity, rules] : [scope, label, cwd, identity, rules],
  )
  return { isShared, ...how, label, session: scope, cwd, roots, rules, key, title: label, trusted: false, lazy: false }
}

/** Independent of the order of variables and headers. */
function canonical(server: McpServer): unknown {
  if (server.type === 'stdio') return ['stdio', server.command, server.args, Object.entries(server.env).sort(byName)]
  return [server.type, server.url, server.headers.toSorted(byName)]
}

function byName([one]: readonly [string, string], [other]: readonly [string, string]): number {
  return one < other ? -1 : Number(one > other)
}
