/** The MCP servers of the settings on this machine, as `parley mcp` lists, tests, adds and removes them here or from elsewhere. */
import { addTable, hasTable, removeTable } from '../../config/files/edit-tables.ts'
import { withdrawTrust } from '../../config/mcp/edit-trust.ts'
import { dangerOf } from '../../config/mcp/danger.ts'
import type { McpPlace } from '../../config/mcp/mcp-servers.ts'
import { type FoundMcp, readMcpFiles } from '../../config/mcp/server-files.ts'
import { userFile } from '../../config/places.ts'
import type { Config } from '../../config/settings.ts'
import type { Table } from '../../config/tables.ts'
import { fail } from '../../errors/parley-error.ts'
import type { McpServer } from '../../ports/tools.ts'
import { locateConfigured } from '../compose/configured-mcp-servers.ts'
import type { LiveMcp } from './mcp-servers.ts'

type Status = LiveMcp['sessions'][number]['servers'][number]

/** As `parley mcp ls --json` prints it. */
export interface McpRow {
  readonly name: string
  /** `client`: no file names it. */
  readonly from: FoundMcp['from'] | 'client'
  readonly file?: string
  readonly standing?: FoundMcp['standing']
  /** Without secrets; absent for rules alone. */
  readonly place?: string
  readonly sessions: readonly (Status & { readonly sessionId: string })[]
}

/** Those of the user's file and of the project in `cwd`, then those that only clients have named. */
export function listMcp(config: Config, cwd: string, { sessions }: LiveMcp): readonly McpRow[] {
  const found = readMcpFiles(config, cwd).servers
  const states = sessions.flatMap(({ sessionId, servers }) => servers.map((server) => ({ ...server, sessionId })))
  const named = (name: string): McpRow['sessions'] => states.filter((state) => state.name === name)
  const configured = found.map(({ entry, file, from, standing }): McpRow => {
    const { name, place } = entry
    const live = standing === 'overruled' ? [] : named(name)
    const row = { name, from, file, standing, sessions: live }
    return place === undefined ? row : Object.assign(row, { place: placeWords(place) })
  })
  const known = new Set(configured.map(({ name }) => name))
  const others = [...new Set(states.map(({ name }) => name))].filter((name) => !known.has(name))
  return [...configured, ...others.map((name): McpRow => ({ name, from: 'client', sessions: named(name) }))]
}

export interface AddedMcp {
  readonly file: string
  /** A warning about its command, such as that it deletes files. */
  readonly danger?: string
}

/** To the user's own file. Throws MCP_CONFIGURED and CONFIG_INVALID. */
export function addMcp(config: Config, name: string, table: Table): AddedMcp {
  const { servers } = readMcpFiles(config, config.home)
  if (servers.some(({ entry, from }) => entry.name === name && from === 'user')) fail('MCP_CONFIGURED', { name })
  const file = userFile(config.environment)
  addTable(file, { group: 'mcp', name }, table)
  const { command = '', args = [] } = table as { readonly command?: string; readonly args?: readonly string[] }
  const danger = dangerOf(command, args)
  return { file, ...(danger !== undefined && { danger }) }
}

export interface RemovedMcp {
  readonly file: string
  /** `table`: it is no longer in the user's file; `trust`: the project in `cwd` has it, and it is allowed no longer. */
  readonly removed: 'table' | 'trust'
}

/** Throws MCP_NOT_CONFIGURED. */
export function removeMcp(config: Config, name: string, cwd: string): RemovedMcp {
  const file = userFile(config.environment)
  // A table that is wrong can be removed too.
  if (hasTable(file, { group: 'mcp', name })) {
    removeTable(file, { group: 'mcp', name })
    return { file, removed: 'table' }
  }
  const { servers } = readMcpFiles(config, cwd)
  const allowed = servers.find(
    ({ entry, from, standing }) => entry.name === name && from === 'project' && standing !== 'waiting',
  )
  if (allowed === undefined) return unknownMcp(name, servers)
  withdrawTrust(config.home, { file: allowed.file, name })
  return { file: allowed.file, removed: 'trust' }
}

/** A server of the settings by its name, or any by its URL or its command. */
export interface TestedMcp {
  readonly name?: string | undefined
  readonly command?: string | undefined
  readonly args?: readonly string[]
  readonly url?: string | undefined
  readonly sse?: boolean
  readonly headers?: Readonly<Record<string, string>>
  readonly cwd: string
}

/** Throws MCP_NOT_CONFIGURED and MCP_CONNECT. */
export function testedMcp(config: Config, { name, command, args = [], url = '', ...more }: TestedMcp): McpServer {
  if (name !== undefined) return configuredMcp(config, name, more.cwd)
  if (command !== undefined) return { type: 'stdio', name: 'test', command, args, env: {} }
  return { type: more.sse === true ? 'sse' : 'http', name: 'test', url, headers: Object.entries(more.headers ?? {}) }
}

/** The server of this name that sessions in `cwd` have. */
function configuredMcp(config: Config, name: string, cwd: string): McpServer {
  const { servers } = readMcpFiles(config, cwd)
  const found = servers.find(({ entry, standing }) => entry.name === name && standing !== 'overruled')
  if (found === undefined) return unknownMcp(name, servers, `For a command: parley mcp test -- ${name}`)
  const { place } = found.entry
  const reason = `${name} has only rules in ${found.file}, and neither a command nor a url`
  return place === undefined ? fail('MCP_CONNECT', { server: name, reason }) : locateConfigured(config, found, place)
}

/** Throws MCP_NOT_CONFIGURED, with the names that exist. */
export function unknownMcp(name: string, servers: readonly FoundMcp[], next = 'See: parley mcp ls'): never {
  const names = [...new Set(servers.map(({ entry }) => entry.name))]
  const known = names.length === 0 ? 'none is configured' : `configured: ${names.join(', ')}`
  return fail('MCP_NOT_CONFIGURED', { name: JSON.stringify(name), known, next })
}

const SECRET = /key|token|secret|pass|auth|credential/iu

/** A command line or an address, as it is written. */
function placeWords(place: McpPlace): string {
  if (place.type === 'stdio') return [place.command, ...place.args.map(withoutSecret)].join(' ')
  const { url } = place
  if (!URL.canParse(url)) return url.split('?', 1)[0] ?? ''
  const { origin, pathname } = new URL(url)
  return origin + pathname.replaceAll(/[^/]{16,}/gu, '…')
}

/** Hides the value that follows `--api-key`, or its `=`. */
function withoutSecret(arg: string, index: number, args: readonly string[]): string {
  const [, flag] = /^(--?[^=]+)=(?!\$\{)/u.exec(arg) ?? []
  if (flag !== undefined && SECRET.test(flag)) return `${flag}=…`
  const before = args[index - 1] ?? ''
  const isValue = /^--?[^=]+$/u.test(before) && SECRET.test(before) && !arg.startsWith('-')
  return isValue && !arg.startsWith('${') ? '…' : arg
}
