/** Reads the servers of other tools: the `mcpServers` that editors and desktop programs keep as JSON. */
import { fail, reasonOf } from '../errors/parley-error.ts'
import type { McpTable } from './mcp-edit.ts'

export interface Imported {
  readonly name: string
  readonly table: McpTable
  /** What it says that we have no word for. */
  readonly leftOut: readonly string[]
}

type Fields = Readonly<Record<string, unknown>>

/** Words of several tools for the same. */
const SYNONYMS: Readonly<Record<string, string>> = { serverUrl: 'url', httpUrl: 'url', transport: 'type' }
const KEPT = new Set(['command', 'args', 'env', 'url', 'headers', 'type'])

/** Throws CONFIG_INVALID where it is no such file. */
export function importedFrom(path: string, text: string): readonly Imported[] {
  const servers = serversIn(parsed(path, text))
  if (servers === undefined)
    return fail('CONFIG_INVALID', { key: path, value: 'imported', reason: 'it has no mcpServers' })
  return Object.entries(servers).map(([name, fields]) => importedOne(name, isFields(fields) ? fields : {}))
}

function parsed(path: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    return fail('CONFIG_INVALID', { key: path, value: 'read', reason: `it is no JSON: ${syntaxOf(error)}` }, error)
  }
}

/** The message quotes what it stumbled over, which may be a secret. */
function syntaxOf(error: unknown): string {
  return /at position \d+|end of JSON input/u.exec(reasonOf(error))?.[0] ?? 'its syntax'
}

function serversIn(file: unknown): Fields | undefined {
  if (!isFields(file)) return undefined
  const { mcpServers, servers, mcp } = file
  const found = mcpServers ?? servers ?? (isFields(mcp) ? mcp['servers'] : undefined)
  return isFields(found) ? found : undefined
}

function importedOne(name: string, given: Fields): Imported {
  const fields = Object.fromEntries(Object.entries(given).map(([key, value]) => [SYNONYMS[key] ?? key, value]))
  const known = Object.entries(fields).filter(([key, value]) => KEPT.has(key) && !isEmpty(value))
  const kept = Object.fromEntries(known)
  const isOff = fields['disabled'] === true || fields['enabled'] === false
  const table = { ...inOurWords(kept), ...(isOff && { enabled: false }) }
  const said = new Set([...KEPT, 'disabled', 'enabled'])
  return { name, table, leftOut: Object.keys(fields).filter((key) => !said.has(key)) }
}

function inOurWords({ type, ...fields }: Fields): Fields {
  const texts = textsIn(fields) as Fields
  if (type !== 'sse') return texts
  return { ...texts, type }
}

/** Editors write `${env:NAME}`; numbers and switches in `env` are texts. */
function textsIn(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(textsIn)
  if (isFields(value)) return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, textsIn(one)]))
  return String(value).replaceAll(/\$\{env:(\w+)\}/gu, '${$1}')
}

function isEmpty(value: unknown): boolean {
  return value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0)
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
