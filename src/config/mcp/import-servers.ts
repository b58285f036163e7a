/** Reads the servers of other tools: the `mcpServers` that editors and desktop programs keep as JSON. */
import { resolve } from 'node:path'
import { fail, reasonOf } from '../../errors/parley-error.ts'
import { readText } from '../../state-files/bounded-read.ts'
import type { Table } from '../tables.ts'

export type Imported =
  | {
      readonly name: string
      readonly table: Table
      /** Keys of the other tool's table that have no equivalent here. */
      readonly leftOut: readonly string[]
    }
  | { readonly name: string; readonly wrong: string }

type Fields = Readonly<Record<string, unknown>>

/** The names of the transports in several other tools. Any other name is refused when the table is checked. */
const TYPES: Readonly<Record<string, string>> = {
  local: 'stdio',
  remote: 'http',
  'streamable-http': 'http',
  streamableHttp: 'http',
  streamable_http: 'http',
}
/** Words of several tools for the same. */
const SYNONYMS: Readonly<Record<string, string>> = { serverUrl: 'url', httpUrl: 'url', transport: 'type' }
const IMPORTED_KEYS = new Set(['command', 'args', 'env', 'url', 'headers', 'type'])

/** Throws FILE_MISSING, and FILE_UNUSABLE where the file is not such a list of servers. */
export async function importFile(path: string): Promise<readonly Imported[]> {
  return importedFrom(path, await textIn(path))
}

export function importedFrom(path: string, text: string): readonly Imported[] {
  const servers = serversIn(parseJson(path, text))
  if (servers === undefined) return fail('FILE_UNUSABLE', { path, reason: 'it has no "mcpServers"' })
  return Object.entries(servers).map(([name, fields]) =>
    isFields(fields) ? importedOne(name, fields) : { name, wrong: 'it is no table of settings' },
  )
}

async function textIn(path: string): Promise<string> {
  const text = await readText(resolve(path)).catch((error: unknown) =>
    fail('FILE_UNUSABLE', { path, reason: reasonOf(error) }, error),
  )
  return text ?? fail('FILE_MISSING', { path })
}

function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The message of the parser quotes what it stumbled over, which may be a secret.
    return fail('FILE_UNUSABLE', { path, reason: jsonFault(text) })
  }
}

function serversIn(file: unknown): Fields | undefined {
  if (!isFields(file)) return undefined
  const { mcpServers, servers, mcp } = file
  const found = mcpServers ?? servers ?? (isFields(mcp) ? mcp['servers'] : undefined)
  return isFields(found) ? found : undefined
}

function importedOne(name: string, given: Fields): Imported {
  const fields = Object.fromEntries(Object.entries(given).map(([key, value]) => [SYNONYMS[key] ?? key, value]))
  const known = Object.entries(fields).filter(([key, value]) => IMPORTED_KEYS.has(key) && !isEmpty(value))
  const kept = Object.fromEntries(known)
  if (kept['command'] === undefined && kept['url'] === undefined)
    return { name, wrong: 'it has neither a command nor a url' }
  const isOff = fields['disabled'] === true || fields['enabled'] === false
  const table = { ...inOurWords(kept), ...(isOff && { enabled: false }) }
  const said = new Set([...IMPORTED_KEYS, 'disabled', 'enabled'])
  return { name, table, leftOut: Object.keys(fields).filter((key) => !said.has(key)) }
}

function inOurWords({ type, command, url, args, ...tables }: Fields): Fields {
  const transport = typeof type === 'string' ? (TYPES[type] ?? type) : type
  // Which of the two it is shows; a word that contradicts that is refused where the table is checked.
  const isPlain = transport === (command === undefined ? 'http' : 'stdio')
  return {
    ...(command !== undefined && { command: withVariables(command) }),
    ...(url !== undefined && { url: withVariables(url) }),
    ...(transport !== undefined && !isPlain && { type: transport }),
    ...(args !== undefined && { args: Array.isArray(args) ? args.map(asText) : args }),
    ...Object.fromEntries(Object.entries(tables).map(([key, table]) => [key, textsIn(table)])),
  }
}

/** Variables without a value are none. */
function textsIn(table: unknown): unknown {
  if (!isFields(table)) return table
  const set = Object.entries(table).filter(([, value]) => value !== null)
  return Object.fromEntries(set.map(([name, value]) => [name, asText(value)]))
}

/** Numbers and switches are texts here; anything else is refused where the table is checked. */
function asText(value: unknown): unknown {
  return withVariables(typeof value === 'number' || typeof value === 'boolean' ? String(value) : value)
}

/** Editors write `${env:NAME}`. */
function withVariables(value: unknown): unknown {
  return typeof value === 'string' ? value.replaceAll(/\$\{env:(\w+)\}/gu, '${$1}') : value
}

function isEmpty(value: unknown): boolean {
  return value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0)
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** `it is not valid JSON (line 3, column 7)`, without a quotation: the text may hold secrets. */
function jsonFault(text: string): string {
  const before = text.slice(0, validLength(text)).split('\n')
  return `it is not valid JSON (line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1})`
}

/** The length of the longest beginning that more text could complete to JSON. */
function validLength(text: string): number {
  let valid = 0
  let wrong = text.length + 1
  while (wrong - valid > 1) {
    const middle = Math.floor((valid + wrong) / 2)
    if (isValidPrefix(text.slice(0, middle))) valid = middle
    else wrong = middle
  }
  return valid
}

function isValidPrefix(start: string): boolean {
  try {
    JSON.parse(start)
    return true
  } catch (error) {
    const at = /at position (\d+)/u.exec(reasonOf(error))?.[1]
    return at === undefined ? /end of JSON input/u.test(reasonOf(error)) : Number(at) >= start.length
  }
}
