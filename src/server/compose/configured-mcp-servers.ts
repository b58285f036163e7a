/** The MCP servers of the configuration, as the tool host takes them: as the files are when a session is opened, and at each prompt of an external agent. */
import { type FoundMcp, McpFileReader, mayBeUsed, readMcpFiles } from '../../config/mcp/server-files.ts'
import type { McpPlace } from '../../config/mcp/mcp-servers.ts'
import type { LoginSettings } from '../../ports/values/mcp-server-settings.ts'
import type { Config } from '../../config/settings.ts'
import { filledIn, filledInLogin } from '../../config/files/variables.ts'
import { fail } from '../../errors/parley-error.ts'
import type { McpServer } from '../../ports/tools.ts'

/** Faults of a file go to the log: the client that opens a session cannot show them, and the other servers still work. */
export function configuredServers(config: Config, warn: (sentence: string) => void, now: () => number) {
  const files = new McpFileReader(config, now)
  return (cwd: string) => {
    const { servers, faults } = files.read(cwd)
    for (const { file, key, reason } of faults) warn(`${file} is wrong at ${key}: ${reason}.`)
    return counting(servers).map((found) => configuredServer(config, found))
  }
}

/** Their names: all that a client without the role admin may say of MCP servers. */
export function configuredNames(config: Config, cwd: string): readonly string[] {
  const { servers } = readMcpFiles(config, cwd)
  return counting(servers).flatMap(({ entry }) => (entry.place === undefined ? [] : [entry.name]))
}

/** One server for each name; the user's own is used until the project's is trusted. */
function counting(servers: readonly FoundMcp[]): readonly FoundMcp[] {
  const active = servers.filter(({ standing }) => standing === 'active')
  const names = new Set(active.map(({ entry }) => entry.name))
  // A server that waits is shown with its reason; rules that wait are nothing.
  const waiting = servers.filter(({ standing, entry }) => standing === 'waiting' && entry.place && entry.enabled)
  return [...active, ...waiting.filter(({ entry }) => !names.has(entry.name))]
}

function configuredServer(config: Config, found: FoundMcp) {
  const { name, place, rules } = found.entry
  // Until the user trusts it, a project's file changes nothing about the servers of clients.
  const own = { name, rules: found.standing === 'waiting' ? {} : rules }
  if (place === undefined) return own
  const isProcess = place.type === 'stdio'
  // Asked each time: the user may allow it while the session lives.
  const locate = async () => locateConfigured(config, found, place)
  const login = loginFor(config, found)
  // A server that waits for consent must not share the process that still runs from the time when it had consent.
  const identity = found.standing === 'waiting' ? `${found.digest} waiting` : found.digest
  return { ...own, joins: { rules, isProcess, identity, locate, ...(login && { login }) } }
}

/** Undefined where a variable is missing as well; the login reports which. */
function loginFor(config: Config, { entry }: FoundMcp): LoginSettings | undefined {
  if (entry.login === undefined) return undefined
  const filled = filledInLogin(entry.login, config.environment)
  return 'login' in filled ? filled.login : undefined
}

export interface LoginPlace {
  readonly server: McpServer
  readonly login?: LoginSettings
}

/** Where to log in, and with what. Throws MCP_CONNECT. */
export function loginPlaceOf(config: Config, found: FoundMcp, place: McpPlace): LoginPlace {
  const server = locateConfigured(config, found, place)
  const { name, login } = found.entry
  if (login === undefined) return { server }
  const filled = filledInLogin(login, config.environment)
  return 'login' in filled
    ? { server, login: filled.login }
    : fail('MCP_CONNECT', { server: name, reason: needs(filled) })
}

/** Throws MCP_CONNECT. */
export function locateConfigured(config: Config, found: FoundMcp, place: McpPlace): McpServer {
  const { name } = found.entry
  if (!mayBeUsed(config, found)) return fail('MCP_CONNECT', { server: name, reason: waitingReason(found) })
  const filled = filledIn(place, config.environment)
  if ('place' in filled) return serverAt(name, filled.place)
  return fail('MCP_CONNECT', { server: name, reason: needs(filled) })
}

function needs({ missing }: { readonly missing: readonly string[] }): string {
  const which = missing.map((one) => `\${${one}}`).join(' and ')
  return `its configuration needs ${which}, which the environment of the server process does not have`
}

function waitingReason({ file, entry }: FoundMcp): string {
  return `${file} names it, and you have not trusted it; run parley mcp trust ${JSON.stringify(entry.name)} in that directory`
}

function serverAt(name: string, place: McpPlace): McpServer {
  if (place.type === 'stdio') return { ...place, name }
  return { type: place.type, name, url: place.url, headers: Object.entries(place.headers) }
}
