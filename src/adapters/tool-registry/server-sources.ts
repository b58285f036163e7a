/** Which servers a registry has (those of clients, those of configuration files), and which configurations are the same server. */
import type { McpServer, ToolHostRequest } from '../../ports/tools.ts'
import type { LoginSettings, ServerRules } from '../../ports/values/mcp-server-settings.ts'
import { serverLabels } from './names.ts'
import type { ServerConfig } from '../mcp/host/server-config.ts'

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

/** The servers of clients first, then those of configuration files. */
export function serversOf(request: ToolHostRequest, configured: readonly ConfiguredServer[]): readonly ServerConfig[] {
  const named = new Set(request.servers.map(({ name }) => name))
  const all = [
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

interface SourceContext {
  readonly label: string
  readonly request: ToolHostRequest
  readonly rules: ServerRules
}

function namedConfig(server: McpServer, place: SourceContext): ServerConfig {
  return strange(place, {
    isProcess: server.type === 'stdio',
    isConfigured: false,
    identity: canonical(server),
    locate: async () => server,
  })
}

function joiningConfig(joins: NonNullable<ConfiguredServer['joins']>, place: SourceContext): ServerConfig {
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
  { label, request: { scope, cwd, roots }, rules }: SourceContext,
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
  return { isShared, ...how, label, session: scope, cwd, roots, rules, key }
}

/** Independent of the order of variables and headers. */
function canonical(server: McpServer): unknown {
  if (server.type === 'stdio') return ['stdio', server.command, server.args, Object.entries(server.env).sort(byName)]
  return [server.type, server.url, server.headers.toSorted(byName)]
}

function byName([one]: readonly [string, string], [other]: readonly [string, string]): number {
  return one < other ? -1 : Number(one > other)
}
