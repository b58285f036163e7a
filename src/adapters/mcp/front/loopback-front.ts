/** The MCP servers of sessions on an address of this machine. Only the token of a session opens what that session has. */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingMessage, type Server as HttpServer, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { NodeStreamableHTTPServerTransport } from '@modelcontextprotocol/node'
import type { FrontedSession, McpFront, OpenFront } from '../../../ports/mcp-front.ts'
import { FrontedServer, type FrontedOptions } from './fronted-server.ts'

const HOST = '127.0.0.1'
const MAX_NAME_CHARS = 48

/** What the token of a session gives access to. */
interface SessionAccess {
  readonly session: FrontedSession
  /** The registry's name of each server, by the plain one of its address. */
  readonly servers: ReadonlyMap<string, string>
  /** The MCP sessions of the agent, by their ids. */
  readonly live: Map<string, Live>
}

interface Live {
  readonly name: string
  readonly fronted: FrontedServer
  readonly transport: NodeStreamableHTTPServerTransport
}

export class LoopbackFront implements McpFront {
  readonly #options: FrontedOptions
  readonly #byToken = new Map<string, SessionAccess>()
  #listening: Promise<HttpServer> | undefined

  constructor(options: FrontedOptions) {
    this.#options = options
  }

  async open(session: FrontedSession): Promise<OpenFront> {
    const servers = this.#serversOf(session)
    const token = randomBytes(32).toString('base64url')
    this.#byToken.set(token, { session, servers, live: new Map() })
    const origin = originOf(await this.#listen())
    const headers = [['Authorization', `Bearer ${token}`]] as const
    return {
      servers: [...servers.keys()].map((name) => ({ name, url: `${origin}/${name}`, headers })),
      isCurrent: () => JSON.stringify([...this.#serversOf(session)]) === JSON.stringify([...servers]),
      close: () => this.#close(token),
    }
  }

  namesOf(session: Pick<FrontedSession, 'roots' | 'mcpServers'>): readonly string[] {
    return this.#options.namesOf(session)
  }

  /** Ends every session of every agent. */
  async close(): Promise<void> {
    await Promise.all([...this.#byToken.keys()].map((token) => this.#close(token)))
    const server = await this.#listening
    server?.close()
    server?.closeAllConnections()
  }

  async #close(token: string): Promise<void> {
    const access = this.#byToken.get(token)
    this.#byToken.delete(token)
    await Promise.all([...(access?.live.values() ?? [])].map(({ fronted }) => fronted.close()))
  }

  #serversOf(session: FrontedSession): ReadonlyMap<string, string> {
    const names = this.#options.namesOf(session)
    return new Map(plainNames(names).map((plain, index) => [plain, names[index] ?? plain]))
  }

  #listen(): Promise<HttpServer> {
    this.#listening ??= listen((request, response) => void this.#answer(request, response))
    return this.#listening
  }

  /** A web page reaches this address too, but it has neither the token nor the right names in its headers. */
  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { host, origin, authorization = '' } = request.headers
    const ours = originOf(await this.#listen())
    if (`http://${host}` !== ours || (origin !== undefined && origin !== ours)) return refuse(response, 403)
    const access = this.#byToken.get(/^Bearer (\S+)$/iu.exec(authorization)?.[1] ?? '')
    if (access === undefined) return refuse(response, 401)
    const name = new URL(request.url ?? '/', ours).pathname.slice(1)
    const server = access.servers.get(name)
    if (server === undefined) return refuse(response, 404)
    const id = request.headers['mcp-session-id']
    const live = id === undefined ? await this.#begin(access, name, server) : access.live.get(String(id))
    if (live?.name !== name) return refuse(response, 404)
    await live.transport.handleRequest(request, response)
    // A request that was no `initialize` has begun nothing.
    if (live.transport.sessionId === undefined) await live.fronted.close()
  }

  async #begin(access: SessionAccess, name: string, server: string): Promise<Live> {
    const fronted = new FrontedServer(server, access.session, this.#options)
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: () => this.#options.clock.id(),
      onsessioninitialized: (id) => void access.live.set(id, live),
      onsessionclosed: async (id) => {
        access.live.delete(id)
        await fronted.close()
      },
    })
    const live = { name, fronted, transport }
    await fronted.server.connect(transport)
    return live
  }
}

/** The same names in letters that every agent can make a tool name of: cut, and numbered where two became one. */
export function plainNames(names: readonly string[]): readonly string[] {
  const taken = new Set<string>()
  return names.map((name) => {
    const letters = name.normalize('NFKD').replaceAll(/\p{Mark}/gu, '')
    const plain = letters.replaceAll(/[^A-Za-z0-9_-]+/gu, '_').slice(0, MAX_NAME_CHARS) || '_'
    let unique = plain
    for (let number = 2; taken.has(unique); number += 1) unique = numbered(plain, number)
    taken.add(unique)
    return unique
  })
}

function numbered(name: string, number: number): string {
  const suffix = `_${number}`
  return name.slice(0, MAX_NAME_CHARS - suffix.length) + suffix
}

async function listen(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<HttpServer> {
  const server = createServer(answer)
  server.listen(0, HOST)
  await once(server, 'listening')
  // Agents that are still connected keep no server alive that has nothing else to do.
  return server.unref()
}

function originOf(server: HttpServer): string {
  return `http://${HOST}:${(server.address() as AddressInfo).port}`
}

function refuse(response: ServerResponse, status: number): void {
  response.writeHead(status, { 'content-type': 'text/plain', connection: 'close' }).end()
}
