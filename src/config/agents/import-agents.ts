/** Reads the agents of other tools: `agent_servers` of Zed and JetBrains, `agents` of acpx. */
import { resolve } from 'node:path'
import { fail, reasonOf } from '../../errors/parley-error.ts'
import { readText } from '../../state-files/bounded-read.ts'
import { type Table, isTable } from '../tables.ts'

export type ImportedAgent =
  | {
      readonly name: string
      /** The table `[agents.NAME]`. */
      readonly table: Table
      /** Keys of the other tool's table that have no equivalent here. */
      readonly leftOut: readonly string[]
    }
  | { readonly name: string; readonly wrong: string }

/** Throws FILE_MISSING, and FILE_UNUSABLE where the file is no list of agents. */
export async function importAgents(path: string): Promise<readonly ImportedAgent[]> {
  const text = await readText(resolve(path)).catch((error: unknown) =>
    fail('FILE_UNUSABLE', { path, reason: reasonOf(error) }, error),
  )
  return agentsFrom(path, text ?? fail('FILE_MISSING', { path }))
}

function agentsFrom(path: string, text: string): readonly ImportedAgent[] {
  const file = parseJsonc(path, text)
  const { agent_servers: ofEditor, agents: ofAcpx } = isTable(file) ? file : {}
  const agents = ofEditor ?? ofAcpx
  if (!isTable(agents)) return fail('FILE_UNUSABLE', { path, reason: 'it has neither "agent_servers" nor "agents"' })
  return Object.entries(agents).map(([name, given]) =>
    importedAgent(nameFrom(name), ofEditor === undefined ? withWords(given) : given),
  )
}

/** In acpx, a `command` without `args` is a whole line: words, some of them in quotes. */
function withWords(given: unknown): unknown {
  if (!isTable(given) || typeof given['command'] !== 'string' || given['args'] !== undefined) return given
  const words = given['command'].match(/(?:"(?:\\.|[^"\\])*"|'[^']*'|[^\s"'])+/gu) ?? []
  const [command, ...args] = words.map((word) =>
    word.replaceAll(/"((?:\\.|[^"\\])*)"|'([^']*)'/gu, (_all, double?: string, single?: string) =>
      double === undefined ? (single ?? '') : double.replaceAll(/\\(.)/gu, '$1'),
    ),
  )
  return { ...given, command, args }
}

/** Zed names agents in words, such as "Claude Code". */
function nameFrom(name: string): string {
  const plain = name
    .trim()
    .toLowerCase()
    .replaceAll(/[^a-z0-9.]+/gu, '-')
  return /^[A-Za-z0-9][\w.-]*$/u.test(name) ? name : plain.replaceAll(/^-+|-+$/gu, '')
}

function importedAgent(name: string, given: unknown): ImportedAgent {
  if (Array.isArray(given)) return importedAgent(name, { argv: given })
  if (!isTable(given)) return { name, wrong: 'it is no table of settings' }
  const {
    command: named,
    args: more,
    argv,
    env,
    type,
    default_mode: mode,
    default_config_options: options,
    ...others
  } = given
  const leftOut = Object.keys(others)
  const settings = {
    ...(isTable(env) && Object.keys(env).length > 0 && { env: textsIn(env) }),
    ...(typeof mode === 'string' && { mode }),
    ...(isTable(options) && Object.keys(options).length > 0 && { options }),
  }
  if (type === 'registry') return { name, table: { registry: name, ...settings }, leftOut }
  const words: unknown = Array.isArray(argv) ? argv : [named, ...(Array.isArray(more) ? more : [])]
  const [command, ...args] = (words as readonly unknown[]).map(asText)
  if (typeof command !== 'string' || command === '') return { name, wrong: 'it has no command' }
  return { name, table: { command, ...(args.length > 0 && { args }), ...settings }, leftOut }
}

/** Variables without a value are none. */
function textsIn(table: Table): Table {
  const set = Object.entries(table).filter(([, value]) => value !== null)
  return Object.fromEntries(set.map(([name, value]) => [name, asText(value)]))
}

/** Numbers and switches are texts here; editors write `${env:NAME}`. Anything else is refused where the table is checked. */
function asText(value: unknown): unknown {
  const text = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value
  return typeof text === 'string' ? text.replaceAll(/\$\{env:(\w+)\}/gu, '${$1}') : text
}

/** The settings of editors may have comments, and commas before a closing bracket. */
function parseJsonc(path: string, text: string): unknown {
  const plain = text
    .replaceAll(/"(?:\\.|[^"\\])*"|\/\/[^\n]*|\/\*[\s\S]*?\*\//gu, (part) => (part.startsWith('"') ? part : ' '))
    .replaceAll(/"(?:\\.|[^"\\])*"|,(?=\s*[\]}])/gu, (part) => (part === ',' ? ' ' : part))
  try {
    return JSON.parse(plain)
  } catch {
    // The message of the parser quotes what it stumbled over, which may be a secret.
    return fail('FILE_UNUSABLE', { path, reason: 'it is not valid JSON' })
  }
}
