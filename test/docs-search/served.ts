/** A document server over a directory made for one test, and a client that speaks raw HTTP to it. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect } from 'vitest'
import { type DocsServer, type DocsServerOptions, openDocsServer } from '../../src/docs-search/server.ts'
import { eventually } from '../fixtures/process/eventually.ts'
import { PerTest } from '../fixtures/process/per-test.ts'

export const KEY = 'a-key-for-this-test-only'
const workerUrl = new URL('../../dist/docs-worker.cjs', import.meta.url)

export type Files = Readonly<Record<string, string | Uint8Array>>

type Close = () => Promise<void>

/** Remembers what is to be done at the end: of the test, unless it is opened for a whole file. */
export type AtEnd = (close: Close) => void

const perTest = new PerTest<Close>(async (all) => {
  for (const close of all.toReversed()) await close()
})

/** Call once in a test file: no server outlives its test. */
export function closeAfterEach(): void {
  perTest.closeAfterEach()
}

/** Where tests run beside each other, vitest's own `onTestFinished` cannot tell whose end is meant. */
export const atEndOfTest: AtEnd = (close) => perTest.add(close)

/** Opened once for all tests of a file that change nothing in it: to start an index costs more than most of these tests. */
export function shared<Opened>(open: (atEnd: AtEnd) => Promise<Opened>): () => Promise<Opened> {
  const closing: (() => Promise<void>)[] = []
  let opened: Promise<Opened> | undefined
  afterAll(async () => {
    for (const close of closing.toReversed()) await close()
  })
  return () => (opened ??= open((close) => closing.push(close)))
}

export async function directoryWith(files: Files, atEnd: AtEnd = atEndOfTest): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'parley-docs-'))
  atEnd(() => rm(directory, { recursive: true, force: true }))
  await write(directory, files)
  return directory
}

export async function write(directory: string, files: Files): Promise<void> {
  for (const [file, content] of Object.entries(files)) {
    await mkdir(dirname(join(directory, file)), { recursive: true })
    await writeFile(join(directory, file), content)
  }
}

export interface Served {
  readonly server: DocsServer
  readonly directory: string
  readonly log: readonly string[]
}

export async function serve(
  files: Files,
  options: Partial<DocsServerOptions> = {},
  atEnd: AtEnd = atEndOfTest,
): Promise<Served> {
  const directory = await directoryWith(files, atEnd)
  const log: string[] = []
  const server = await openDocsServer({
    directories: [directory],
    keys: [KEY],
    workerUrl,
    name: 'parley-docs',
    version: '0.0.0',
    log: (line) => log.push(line),
    ...options,
  })
  atEnd(() => server.close())
  return { server, directory, log }
}

export interface RawRequest {
  readonly path?: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  /** A string goes out as it is, anything else as JSON. */
  readonly body?: unknown
}

export interface RawAnswer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  /** As on the wire. */
  readonly headerNames: readonly string[]
  readonly text: string
}

/** Sends exactly these headers, and those without which there is no HTTP. */
export async function raw(server: DocsServer, { path, method, headers, body }: RawRequest): Promise<RawAnswer> {
  const answer = await opened(server, {
    path: path ?? `/mcp/?api_key=${KEY}`,
    method: method ?? 'POST',
    headers: headers ?? { 'Content-Type': 'application/json' },
    body,
  })
  let text = ''
  for await (const chunk of answer.setEncoding('utf8')) text += String(chunk)
  const headerNames = answer.rawHeaders.filter((_, i) => i % 2 === 0)
  return { status: answer.statusCode ?? 0, headers: answer.headers, headerNames, text }
}

export function opened(server: DocsServer, { path, method, headers, body }: RawRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const where = { host: '127.0.0.1', port: server.port, path, method, headers: { ...headers }, agent: false }
    const outgoing = request(where, resolve)
    outgoing.on('error', reject)
    outgoing.end(body === undefined || typeof body === 'string' ? body : JSON.stringify(body))
  })
}

/** What a stream carries, message by message; notes where it is, for whoever comes back to it. */
export async function* messagesOf(
  stream: IncomingMessage,
  note: (eventId: string) => void = () => undefined,
): AsyncGenerator<string> {
  let text = ''
  for await (const chunk of stream.setEncoding('utf8')) {
    text += String(chunk)
    const events = text.split('\n\n')
    text = events.pop() ?? ''
    for (const event of events) {
      const id = /^id: (.*)$/m.exec(event)?.[1]
      if (id !== undefined) note(id)
      const data = /^data: (.+)$/m.exec(event)?.[1]
      if (data !== undefined) yield data
    }
  }
}

export const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-06-18',
    capabilities: { elicitation: {} },
    clientInfo: { name: 'example-client', version: '1.0.0' },
  },
}

export interface ToolAnswer {
  readonly content: readonly { readonly type: string; readonly text: string }[]
  readonly structuredContent?: unknown
  readonly isError?: boolean
}

/** A session as a 2025 client has it. */
export class RawSession {
  readonly server: DocsServer
  readonly id: string
  readonly path: string
  #lastId = 1

  constructor(server: DocsServer, id: string, key = KEY) {
    this.server = server
    this.id = id
    this.path = `/mcp?api_key=${key}`
  }

  static async open(server: DocsServer, key = KEY): Promise<RawSession> {
    const answer = await raw(server, { path: `/mcp?api_key=${key}`, body: INITIALIZE })
    const session = new RawSession(server, String(answer.headers['mcp-session-id']), key)
    await session.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
    return session
  }

  get headers(): Readonly<Record<string, string>> {
    return { 'Content-Type': 'application/json', 'Mcp-Session-Id': this.id }
  }

  send(body: unknown): Promise<RawAnswer> {
    return raw(this.server, { path: this.path, headers: this.headers, body })
  }

  async request(method: string, params?: unknown): Promise<unknown> {
    const answer = await this.send({ jsonrpc: '2.0', id: ++this.#lastId, method, ...(params ? { params } : {}) })
    const { result, error } = JSON.parse(answer.text) as { result?: unknown; error?: unknown }
    return result ?? error
  }

  call(name: string, args: unknown): Promise<ToolAnswer> {
    return this.request('tools/call', { name, arguments: args }) as Promise<ToolAnswer>
  }

  /** Notifications as they arrive from now on, as on the wire. */
  async listen(): Promise<AsyncGenerator<string>> {
    const headers = { Accept: 'text/event-stream', 'Mcp-Session-Id': this.id }
    return messagesOf(await opened(this.server, { path: this.path, method: 'GET', headers }))
  }
}

export interface FoundPassages {
  readonly total: number
  readonly match: string
  readonly nextCursor?: string
  readonly notice?: string
  readonly results: readonly {
    readonly title: string
    readonly headingPath: readonly string[]
    readonly collection: string
    readonly file: string
    readonly line: number
    readonly snippet: string
    readonly highlights: readonly (readonly [number, number])[]
    readonly score: number
    readonly modified: string
    readonly uri: string
  }[]
}

export async function search(session: RawSession, args: Readonly<Record<string, unknown>>): Promise<FoundPassages> {
  const answer = await session.call('search_documents', args)
  if (answer.isError === true) throw new Error(answer.content[0]?.text)
  return answer.structuredContent as FoundPassages
}

/** Asks again until what is found is as wanted. */
export async function found(session: RawSession, query: string, files: readonly string[]): Promise<void> {
  await eventually(async () => {
    const { results } = await search(session, { query })
    expect(results.map(({ file }) => file).toSorted()).toEqual(files)
  })
}
