/** The tables `[mcp.NAME]` of a settings file: their schema, and the servers that they describe. */
import { z } from 'zod'
import type { LoginSettings, ServerRules } from '../../ports/values/mcp-server-settings.ts'
import {
  type SettingMistake,
  faultOf,
  isTable,
  number,
  oneOf,
  switchValue,
  tableWith,
  text,
  textTable,
} from '../tables.ts'

/** How to reach the server, as written: `${NAME}` is not replaced yet. */
export type McpPlace =
  | {
      readonly type: 'stdio'
      readonly command: string
      readonly args: readonly string[]
      readonly env: Readonly<Record<string, string>>
    }
  | { readonly type: 'http' | 'sse'; readonly url: string; readonly headers: Readonly<Record<string, string>> }

export interface McpEntry {
  readonly name: string
  readonly enabled: boolean
  /** Absent if the table has only rules, for servers of this name that clients bring. */
  readonly place?: McpPlace
  readonly rules: ServerRules
  readonly login?: LoginSettings
}

export type McpRead = { readonly entry: McpEntry } | { readonly fault: SettingMistake; readonly name: string }

const seconds = number('a number of seconds above 0', (value) => value > 0)

const limits = { timeout_seconds: seconds.optional(), max_seconds: seconds.optional() }

const login = tableWith(
  {
    client_id: text.optional(),
    client_secret: text.optional(),
    client_metadata_url: z
      .string('it must be an https URL')
      .regex(/^https:\/\/./u, 'it must be an https URL')
      .optional(),
    scope: text.optional(),
    redirect_url: z
      .custom<string>(isLoopbackUrl, 'it must be an http URL of 127.0.0.1 or localhost, with a port')
      .optional(),
  },
  'it must be a table',
)

/** MCP has two generations: up to 2025-11-25 a connection begins with a handshake, from 2026-07-28 on it does not. */
const HANDSHAKES = { auto: 'auto', '2025-11-25': 'legacy', '2026-07-28': 'modern' } as const

/** A fault names the whole list: an item may be a secret. */
const texts = z
  .custom<readonly string[]>(
    (value) => Array.isArray(value) && value.every((one) => typeof one === 'string'),
    'it must be a list of texts',
  )
  .optional()

const server = tableWith(
  {
    command: text.optional(),
    args: texts,
    env: textTable(
      'a table of texts, whose names are those of variables: not empty, and without = and spaces',
      /^[^=\s\p{Cc}]+$/u,
      /^[^\0]*$/u,
    ).optional(),
    url: z.custom<string>(isAddress, 'it must be an http or https URL').optional(),
    type: oneOf(['stdio', 'http', 'sse']).optional(),
    headers: textTable(
      'a table of texts in one line each, whose names are those of headers: letters, digits and hyphens',
      /^[!#$%&'*+.^_`|~\w-]+$/u,
      /^[^\0\r\n]*$/u,
    ).optional(),
    include: texts,
    exclude: texts,
    protocol: oneOf(['auto', '2025-11-25', '2026-07-28']).optional(),
    shared: switchValue.optional(),
    idle_seconds: number('a number of seconds from 0', (value) => value >= 0).optional(),
    enabled: switchValue.optional(),
    tools: z
      .record(z.string(), tableWith(limits, 'a tool is a table: timeout_seconds'), 'it must be a table of tools')
      .optional(),
    login: login.optional(),
    ...limits,
  },
  'a server is a table: command, or url',
)

type ServerTable = z.infer<typeof server>

/** The tables under `mcp`, each by itself: a fault of one does not affect the others. */
export function readMcp(mcp: unknown, source: 'user' | 'project'): readonly McpRead[] {
  if (!isTable(mcp)) {
    const value = Array.isArray(mcp) ? 'a list' : `a ${typeof mcp}`
    return [{ name: 'mcp', fault: { key: 'mcp', value, reason: 'it has tables: [mcp.NAME]' } }]
  }
  return Object.entries(mcp).map(([name, table]) => {
    const fault = nameFault(name) ?? faultOf(`mcp.${name}`, table, server)
    if (fault !== undefined) return { name, fault }
    const checked = table as ServerTable
    const contrary =
      contradiction(`mcp.${name}`, checked) ?? (source === 'user' ? relativeCommand(name, checked) : undefined)
    return contrary === undefined ? { entry: entryOf(name, checked) } : { name, fault: contrary }
  })
}

function nameFault(name: string): SettingMistake | undefined {
  if (/^\P{Cc}{1,100}$/u.test(name) && name.trim() === name) return undefined
  const key = `mcp.${JSON.stringify(name).slice(0, 120)}`
  return { key, value: 'a server', reason: 'its name has 1 to 100 characters in one line, with no space around' }
}

/** A server of the user joins the sessions of every directory: `./server` would run what each of them has there. */
function relativeCommand(name: string, { command }: ServerTable): SettingMistake | undefined {
  const isRelative = command !== undefined && command.includes('/') && !command.startsWith('/')
  if (!isRelative) return undefined
  const reason =
    'in each directory it would be another file; write its absolute path, or a name that is looked up on PATH'
  return { key: `mcp.${name}.command`, value: 'relative', reason }
}

const NEEDS = { args: 'command', env: 'command', headers: 'url', login: 'url' } as const

function contradiction(at: string, table: ServerTable): SettingMistake | undefined {
  const { command, url, type } = table
  const wrong = (key: string, reason: string): SettingMistake => ({ key: `${at}.${key}`, value: 'set', reason })
  if (command !== undefined && url !== undefined) return wrong('url', 'a server has a command or a url, not both')
  for (const key of ['args', 'env', 'headers', 'login'] as const)
    if (table[key] !== undefined && table[NEEDS[key]] === undefined) return wrong(key, `it goes with a ${NEEDS[key]}`)
  if (type === undefined || (type === 'stdio' ? command : url) !== undefined) return undefined
  return wrong('type', 'stdio goes with a command, http and sse go with a url')
}

function entryOf(name: string, table: ServerTable): McpEntry {
  const place = placeIn(table)
  return {
    name,
    enabled: table.enabled !== false,
    rules: rulesIn(table),
    ...(place && { place }),
    ...(table.login !== undefined && { login: loginIn(table.login) }),
  }
}

function loginIn({
  client_id,
  client_secret,
  client_metadata_url,
  scope,
  redirect_url,
}: z.infer<typeof login>): LoginSettings {
  const named = Object.entries({
    clientId: client_id,
    clientSecret: client_secret,
    clientMetadataUrl: client_metadata_url,
    scope,
    redirectUrl: redirect_url,
  })
  return Object.fromEntries(named.filter(([, value]) => value !== undefined))
}

function placeIn({ command, args = [], env = {}, url, type, headers = {} }: ServerTable): McpPlace | undefined {
  if (command !== undefined) return { type: 'stdio', command, args, env }
  return url === undefined ? undefined : { type: type === 'sse' ? 'sse' : 'http', url, headers }
}

function rulesIn(table: ServerTable): ServerRules {
  const { include, exclude, protocol, tools = {}, shared, idle_seconds: idle } = table
  const each = Object.entries(tools).map(([tool, one]) => [tool, limitsIn(one)] as const)
  return {
    ...(include !== undefined && { include }),
    ...(exclude !== undefined && { exclude }),
    ...(protocol !== undefined && { protocol: HANDSHAKES[protocol] }),
    ...(shared !== undefined && { shared }),
    ...(idle !== undefined && { idleMs: Math.round(idle * 1000) }),
    ...(each.length > 0 && { tools: Object.fromEntries(each) }),
    ...limitsIn(table),
  }
}

function limitsIn({ timeout_seconds: quiet, max_seconds: total }: Pick<ServerTable, keyof typeof limits>) {
  return {
    ...(quiet !== undefined && { timeoutMs: Math.round(quiet * 1000) }),
    ...(total !== undefined && { totalMs: Math.round(total * 1000) }),
  }
}

/** A variable may hold any part of it, or all. */
function isAddress(value: unknown): boolean {
  if (typeof value !== 'string' || /\s/u.test(value)) return false
  if (value.startsWith('${')) return true
  // The value of a variable is not known here; a digit is valid in every part of a URL.
  return /^https?:\/\/./u.test(value) && URL.canParse(value.replaceAll(/\$\{[^}]*\}/gu, '1'))
}

/** The login comes back to this machine only. */
function isLoopbackUrl(value: unknown): boolean {
  return typeof value === 'string' && /^http:\/\/(?:127\.0\.0\.1|localhost):\d+(?:\/[^?#]*)?$/u.test(value)
}
