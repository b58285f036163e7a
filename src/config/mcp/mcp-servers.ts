/** What `[mcp.NAME]` of a configuration file may say: every key, what it takes, and what becomes of it. */
import { perhapsMeant } from '../nearest.ts'

export interface McpRules {
  readonly shared?: boolean
  readonly idleMs?: number
  readonly protocol?: 'auto' | 'legacy' | 'modern'
  readonly include?: readonly string[]
  readonly exclude?: readonly string[]
  readonly timeoutMs?: number
  readonly totalMs?: number
  readonly tools?: Readonly<Record<string, { readonly timeoutMs?: number; readonly totalMs?: number }>>
}

/** How to reach it, as written: `${NAME}` still stands where a variable is meant. */
export type McpPlace =
  | {
      readonly type: 'stdio'
      readonly command: string
      readonly args: readonly string[]
      readonly env: Readonly<Record<string, string>>
    }
  | { readonly type: 'http' | 'sse'; readonly url: string; readonly headers: Readonly<Record<string, string>> }

/** How people log in at a server over HTTP, where it does not find that out by itself. */
export interface McpLogin {
  readonly clientId?: string
  readonly clientSecret?: string
  readonly clientMetadataUrl?: string
  readonly scope?: string
  readonly redirectUrl?: string
}

export interface McpEntry {
  readonly name: string
  readonly enabled: boolean
  /** Absent: it only has rules, for servers that clients name so. */
  readonly place?: McpPlace
  readonly rules: McpRules
  readonly login?: McpLogin
}

/** What is wrong with a table, as CONFIG_INVALID says it. */
export interface McpFault {
  readonly key: string
  readonly value: string
  readonly reason: string
}

export type McpRead = { readonly entry: McpEntry } | { readonly fault: McpFault; readonly name: string }

interface Kind {
  readonly words: string
  readonly holds: (value: unknown) => boolean
}

type Table = Readonly<Record<string, unknown>>

const text: Kind = { words: 'a text', holds: (value) => typeof value === 'string' && value !== '' }
const texts: Kind = { words: 'a list of texts', holds: (value) => Array.isArray(value) && value.every(isText) }
const variables: Kind = {
  words: 'a table of texts, whose names are those of variables: not empty, and without = and spaces',
  holds: (value) => holdsTexts(value, /^[^=\s\p{Cc}]+$/u, /^[^\0]*$/u),
}
const headerFields: Kind = {
  words: 'a table of texts in one line each, whose names are those of headers: letters, digits and hyphens',
  holds: (value) => holdsTexts(value, /^[!#$%&'*+.^_`|~\w-]+$/u, /^[^\0\r\n]*$/u),
}
const seconds: Kind = { words: 'a number of seconds above 0', holds: (value) => typeof value === 'number' && value > 0 }

const LIMITS: Readonly<Record<string, Kind>> = { timeout_seconds: seconds, max_seconds: seconds }

const LOGIN: Readonly<Record<string, Kind>> = {
  client_id: text,
  client_secret: text,
  client_metadata_url: {
    words: 'an https URL',
    holds: (value) => isText(value) && /^https:\/\/./u.test(String(value)),
  },
  scope: text,
  redirect_url: { words: 'an http URL of 127.0.0.1 or localhost, with a port', holds: isLanding },
}

/** MCP has two generations: up to 2025-11-25 a connection begins with a handshake, from 2026-07-28 on it does not. */
const HANDSHAKES = { '2025-11-25': 'legacy', '2026-07-28': 'modern' } as const

const KEYS: Readonly<Record<string, Kind>> = {
  command: text,
  args: texts,
  env: variables,
  url: { words: 'an http or https URL', holds: isAddress },
  type: oneOf('stdio', 'http', 'sse'),
  headers: headerFields,
  include: texts,
  exclude: texts,
  protocol: oneOf('auto', ...Object.keys(HANDSHAKES)),
  shared: { words: 'true or false', holds: (value) => typeof value === 'boolean' },
  idle_seconds: { words: 'a number of seconds from 0', holds: (value) => typeof value === 'number' && value >= 0 },
  enabled: { words: 'true or false', holds: (value) => typeof value === 'boolean' },
  tools: { words: 'a table of tools', holds: isTable },
  login: { words: 'a table', holds: isTable },
  ...LIMITS,
}

/** The tables under `mcp`, each on its own: what is wrong with one says nothing of the others. */
export function readMcp(mcp: unknown, source: 'user' | 'project'): readonly McpRead[] {
  if (!isTable(mcp))
    return [{ name: 'mcp', fault: { key: 'mcp', value: shown(mcp), reason: 'it has tables: [mcp.NAME]' } }]
  return Object.entries(mcp).map(([name, table]) => {
    const fault = faultIn(name, table) ?? (source === 'user' ? relativeCommand(name, table as Table) : undefined)
    return fault === undefined ? { entry: entryOf(name, table as Table) } : { name, fault }
  })
}

function faultIn(name: string, table: unknown): McpFault | undefined {
  const at = `mcp.${name}`
  if (!/^\P{Cc}{1,100}$/u.test(name) || name.trim() !== name)
    return {
      key: `mcp.${JSON.stringify(name).slice(0, 120)}`,
      value: 'a server',
      reason: 'its name has 1 to 100 characters in one line, with no space around',
    }
  if (!isTable(table)) return { key: at, value: shown(table), reason: 'a server is a table: command, or url' }
  const own = wrongIn(at, table, KEYS)
  if (own !== undefined) return own
  for (const [tool, limits] of Object.entries((table['tools'] ?? {}) as Table)) {
    const key = `${at}.tools.${tool}`
    if (!isTable(limits)) return { key, value: shown(limits), reason: 'a tool is a table: timeout_seconds' }
    const wrong = wrongIn(key, limits, LIMITS)
    if (wrong !== undefined) return wrong
  }
  return wrongIn(`${at}.login`, (table['login'] ?? {}) as Table, LOGIN) ?? contradiction(at, table)
}

/** A server of the user joins the sessions of every directory: `./server` would run what each of them has there. */
function relativeCommand(name: string, { command }: Table): McpFault | undefined {
  const isRelative = typeof command === 'string' && command.includes('/') && !command.startsWith('/')
  if (!isRelative) return undefined
  const reason =
    'in each directory it would be another file; write its absolute path, or a name that is looked up on PATH'
  return { key: `mcp.${name}.command`, value: 'relative', reason }
}

function wrongIn(at: string, table: Table, kinds: Readonly<Record<string, Kind>>): McpFault | undefined {
  for (const [key, value] of Object.entries(table)) {
    const kind = Object.hasOwn(kinds, key) ? kinds[key] : undefined
    const known = Object.keys(kinds).join(', ')
    if (kind === undefined) {
      const reason = `there is only ${known}${perhapsMeant(key, Object.keys(kinds))}`
      return { key: `${at}.${key}`, value: 'set', reason }
    }
    // The value may be a key to something: it stays out of the sentence.
    if (!kind.holds(value)) return { key: `${at}.${key}`, value: 'what it is', reason: `it must be ${kind.words}` }
  }
  return undefined
}

const NEEDS = { args: 'command', env: 'command', headers: 'url', login: 'url' } as const

function contradiction(at: string, table: Table): McpFault | undefined {
  const { command, url, type } = table
  const wrong = (key: string, reason: string): McpFault => ({ key: `${at}.${key}`, value: 'set', reason })
  if (command !== undefined && url !== undefined) return wrong('url', 'a server has a command or a url, not both')
  for (const [key, needed] of Object.entries(NEEDS))
    if (table[key] !== undefined && table[needed] === undefined) return wrong(key, `it goes with a ${needed}`)
  if (type === undefined || (type === 'stdio' ? command : url) !== undefined) return undefined
  return wrong('type', 'stdio goes with a command, http and sse go with a url')
}

function entryOf(name: string, table: Table): McpEntry {
  const place = placeIn(table)
  const { login } = table
  return {
    name,
    enabled: table['enabled'] !== false,
    rules: rulesIn(table),
    ...(place && { place }),
    ...(login !== undefined && { login: loginIn(login as Table) }),
  }
}

function loginIn({ client_id, client_secret, client_metadata_url, scope, redirect_url }: Table): McpLogin {
  const named = Object.entries({
    clientId: client_id,
    clientSecret: client_secret,
    clientMetadataUrl: client_metadata_url,
    scope,
    redirectUrl: redirect_url,
  })
  return Object.fromEntries(named.filter(([, value]) => value !== undefined))
}

/** The table was checked: every value is what its key takes. */
function placeIn({ command, args = [], env = {}, url, type = 'http', headers = {} }: Table): McpPlace | undefined {
  if (command !== undefined) return { type: 'stdio', command, args, env } as McpPlace
  return url === undefined ? undefined : ({ type, url, headers } as McpPlace)
}

function rulesIn(table: Table): McpRules {
  const { include, exclude, protocol, tools, shared, idle_seconds: idle } = table
  const each = Object.entries((tools ?? {}) as Table).map(([tool, limits]) => [tool, limitsIn(limits as Table)])
  return {
    ...(include !== undefined && { include }),
    ...(exclude !== undefined && { exclude }),
    ...(protocol !== undefined && { protocol: HANDSHAKES[protocol as keyof typeof HANDSHAKES] ?? 'auto' }),
    ...(shared !== undefined && { shared }),
    ...(idle !== undefined && { idleMs: Math.round((idle as number) * 1000) }),
    ...(each.length > 0 && { tools: Object.fromEntries(each) }),
    ...limitsIn(table),
  } as McpRules
}

function limitsIn({ timeout_seconds: quiet, max_seconds: total }: Table): McpRules {
  return {
    ...(quiet !== undefined && { timeoutMs: Math.round((quiet as number) * 1000) }),
    ...(total !== undefined && { totalMs: Math.round((total as number) * 1000) }),
  }
}

function oneOf(...words: readonly string[]): Kind {
  return { words: words.join(', '), holds: (value) => typeof value === 'string' && words.includes(value) }
}

/** A variable may hold any part of it, or all. */
function isAddress(value: unknown): boolean {
  if (typeof value !== 'string' || /\s/u.test(value)) return false
  if (value.startsWith('${')) return true
  // What a variable holds is not known here; a digit fits every place.
  return /^https?:\/\/./u.test(value) && URL.canParse(value.replaceAll(/\$\{[^}]*\}/gu, '1'))
}

function holdsTexts(value: unknown, names: RegExp, texts: RegExp): boolean {
  if (!isTable(value)) return false
  return Object.entries(value).every(([name, one]) => names.test(name) && isText(one) && texts.test(String(one)))
}

/** Nobody but this machine may get what comes back. */
function isLanding(value: unknown): boolean {
  return isText(value) && /^http:\/\/(?:127\.0\.0\.1|localhost):\d+(?:\/[^?#]*)?$/u.test(String(value))
}

function isText(value: unknown): boolean {
  return typeof value === 'string'
}

function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
}

function shown(value: unknown): string {
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`
}
