/**
 * Translates the paths in messages between an editor and a remote server, in both directions, and keeps from the server
 * what exists only beside the editor.
 */
import { ParleyError } from '../errors/parley-error.ts'
import { type RequestId, errorMessage, fieldsOf, isFields } from '../rpc/json-rpc.ts'

export interface PathMap {
  /** Absolute, without a slash at its end. */
  readonly local: string
  readonly remote: string
}

export interface RemotePathsOptions {
  /** As the user calls the server. */
  readonly server: string
  readonly maps: readonly PathMap[]
  /** Whether the server may use the editor's files and terminals. */
  readonly lends: boolean
  say(sentence: string): void
}

type Json = Readonly<Record<string, unknown>>

/** Fields that hold paths, at any depth of a message. */
const PATHS: ReadonlySet<string> = new Set(['cwd', 'path', 'additionalDirectories', 'uri'])
/** Fields with the words of agents and tools, in which nothing is translated. */
const NOT_INSIDE: ReadonlySet<string> = new Set(['rawInput', 'rawOutput', '_meta', 'text'])
const NO_DIRECTORY: ReadonlySet<unknown> = new Set(['DIRECTORY_MISSING', 'DIRECTORY_FOREIGN', 'PATH_NOT_ABSOLUTE'])

export class RemotePaths {
  readonly #options: RemotePathsOptions
  readonly #outward: readonly (readonly [from: string, to: string])[]
  readonly #inward: readonly (readonly [from: string, to: string])[]
  /** The `cwd` of each request that opens a session, as the editor names it. */
  readonly #opening = new Map<unknown, string>()
  #hasNoticed = false
  /** The role of this connection, from the server's last answer to `initialize`. */
  #role: unknown

  constructor(options: RemotePathsOptions) {
    this.#options = options
    this.#outward = longestFirst(options.maps.map(({ local, remote }) => [local, remote]))
    this.#inward = longestFirst(options.maps.map(({ local, remote }) => [remote, local]))
  }

  /** One line of the editor, as the server gets it. What is no JSON is left for the server to refuse. */
  fromEditor(line: string): string {
    const message = parseMessage(line)
    if (message === undefined) return line
    const params = fieldsOf(message['params'])
    const { cwd } = params
    if (typeof cwd === 'string' && message['id'] !== undefined) this.#opening.set(message['id'], cwd)
    return JSON.stringify(translated({ ...message, ...this.#kept(message, params) }, this.#outward))
  }

  /** One line of the server, as the editor gets it. */
  toEditor(line: string): string {
    const message = parseMessage(line)
    if (message === undefined) return line
    const result = fieldsOf(message['result'])
    const opening = this.#opening.get(message['id'])
    if (message['method'] === undefined) this.#opening.delete(message['id'])
    if (isFields(result['agentInfo'])) {
      this.#role = roleIn(result)
      return JSON.stringify({ ...message, result: this.#named(result) })
    }
    if (opening !== undefined && isWithoutDirectory(message)) {
      const { server } = this.#options
      return errorMessage(message['id'] as RequestId, new ParleyError('CWD_ELSEWHERE', { cwd: opening, server }))
    }
    return JSON.stringify(translated(message, this.#inward))
  }

  #kept(message: Json, params: Json): Json {
    if (message['method'] === 'initialize' && !this.#options.lends) {
      const { fs: _files, terminal: _terminals, ...capabilities } = fieldsOf(params['clientCapabilities'])
      return { params: { ...params, clientCapabilities: capabilities } }
    }
    const { mcpServers } = params
    if (!Array.isArray(mcpServers)) return {}
    const kept = mcpServers.filter((one) => this.#isForThere(fieldsOf(one)))
    if (kept.length < mcpServers.length) this.#notice(mcpServers.length - kept.length)
    return { params: { ...params, mcpServers: kept } }
  }

  /** A command is of the editor's machine, and an address of its choice would be refused below the role admin. */
  #isForThere({ command, url }: Json): boolean {
    if (command !== undefined) return false
    return url === undefined || typeof this.#role !== 'string' || this.#role === 'admin'
  }

  #notice(count: number): void {
    if (this.#hasNoticed) return
    this.#hasNoticed = true
    const what = count === 1 ? 'An MCP server of the editor is' : `${count} MCP servers of the editor are`
    const { server } = this.#options
    const why =
      typeof this.#role === 'string' && this.#role !== 'admin'
        ? `with the role ${this.#role}, ${server} has only the MCP servers of its own settings`
        : `commands of this machine cannot be started on ${server}`
    this.#options.say(`${what} left out: ${why}.`)
  }

  /** Says where it is. */
  #named(result: Json): Json {
    return { ...result, agentInfo: { ...fieldsOf(result['agentInfo']), title: `Parley · ${this.#options.server}` } }
  }
}

function roleIn(result: Json): unknown {
  return fieldsOf(fieldsOf(fieldsOf(result['agentCapabilities'])['_meta'])['parley'])['role']
}

/** The server does not have the `cwd`, or does not let this connection use it. */
function isWithoutDirectory(message: Json): boolean {
  const { code, what } = fieldsOf(fieldsOf(message['error'])['data'])
  return NO_DIRECTORY.has(code) && what === 'cwd'
}

/** `LOCAL=REMOTE`, both absolute; undefined for anything else. */
export function parseMap(text: string): PathMap | undefined {
  const [, local = '', remote = ''] = /^(\/[^=]*|[a-z]:[^=]*)=(\/.*)$/iu.exec(text) ?? []
  if (local === '') return undefined
  return { local: withoutSlash(local), remote: withoutSlash(remote) }
}

function withoutSlash(path: string): string {
  return path.length > 1 ? path.replace(/\/+$/u, '') : path
}

function longestFirst(pairs: readonly (readonly [string, string])[]): readonly (readonly [string, string])[] {
  return pairs.toSorted(([one], [other]) => other.length - one.length)
}

function parseMessage(line: string): Json | undefined {
  try {
    const message: unknown = JSON.parse(line)
    return isFields(message) ? message : undefined
  } catch {
    return undefined
  }
}

function translated(value: unknown, pairs: readonly (readonly [string, string])[], key = ''): unknown {
  if (typeof value === 'string') return PATHS.has(key) ? pathTo(value, pairs) : value
  if (Array.isArray(value)) return value.map((one) => translated(one, pairs, key))
  if (!isFields(value)) return value
  const entries = Object.entries(value)
  return Object.fromEntries(
    entries.map(([name, one]) => [name, NOT_INSIDE.has(name) ? one : translated(one, pairs, name)]),
  )
}

const FILE = 'file://'

function pathTo(text: string, pairs: readonly (readonly [string, string])[]): string {
  if (text.startsWith(FILE)) {
    const encoded = pairs.map(([from, to]) => [encodeURI(from), encodeURI(to)] as const)
    return `${FILE}${pathTo(text.slice(FILE.length), encoded)}`
  }
  const pair = pairs.find(([from]) => text === from || text.startsWith(from.endsWith('/') ? from : `${from}/`))
  if (pair === undefined) return text
  const [from, to] = pair
  const rest = text.slice(from.length).replace(/^\//u, '')
  if (rest === '') return to
  return `${to.endsWith('/') ? to : `${to}/`}${rest}`
}
