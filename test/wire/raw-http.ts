/**
 * A raw client over Streamable HTTP: what is written are lines, each of which goes out as a POST after the one before it was
 * accepted; what comes on the streams of the connection and of its sessions comes out as lines.
 */
import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http'
import { Agent as TlsAgent, request as requestTls } from 'node:https'
import { PassThrough, Writable } from 'node:stream'
import type { Fields } from '../e2e/message.ts'
import { onceSoon } from './once-soon.ts'
import { RawConnection } from './raw-connection.ts'

interface Answer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly text: string
}

interface SseEvent {
  readonly id: string | undefined
  readonly data: string
}

/** The events of a stream as they come, and what was remarked in comments. */
export class EventReader {
  readonly response: IncomingMessage
  readonly events: SseEvent[] = []
  readonly remarks: string[] = []
  readonly closed: Promise<void>
  #rest = ''

  constructor(response: IncomingMessage, onEvent: (event: SseEvent) => void = () => undefined) {
    this.response = response
    this.closed = new Promise((resolve) => response.once('close', () => resolve()))
    response.on('error', () => undefined)
    response.setEncoding('utf8').on('data', (text: string) => {
      const parts = `${this.#rest}${text}`.split('\n\n')
      this.#rest = parts.pop() ?? ''
      for (const part of parts) {
        if (part.startsWith(':')) this.remarks.push(part.slice(1).trim())
        else {
          const event = eventIn(part)
          this.events.push(event)
          onEvent(event)
        }
      }
    })
  }

  get lastId(): string | undefined {
    return this.events.at(-1)?.id
  }

  /** Resolves when there are so many events. */
  async until(count: number): Promise<readonly SseEvent[]> {
    while (this.events.length < count) await onceSoon(this.response, 'data')
    return this.events
  }
}

function eventIn(part: string): SseEvent {
  const lines = part.split('\n')
  const of = (name: string): string[] =>
    lines.filter((line) => line.startsWith(`${name}: `)).map((line) => line.slice(name.length + 2))
  return { id: of('id')[0], data: of('data').join('\n') }
}

/** The requests of one client. */
export class HttpClient {
  readonly url: URL
  readonly #headers: Readonly<Record<string, string>>
  readonly #agent: Agent
  readonly #open = new Set<ClientRequest>()

  constructor(url: string, token: string | undefined, headers: Readonly<Record<string, string>> = {}) {
    this.url = new URL(url.replace(/^ws/u, 'http'))
    this.#agent = this.#isSecure ? new TlsAgent({ keepAlive: true }) : new Agent({ keepAlive: true })
    this.#headers = { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...headers }
  }

  get #isSecure(): boolean {
    return this.url.protocol === 'https:'
  }

  async post(body: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.ask('POST', { 'content-type': 'application/json', ...headers }, body)
  }

  async ask(method: string, headers: Readonly<Record<string, string>>, body = ''): Promise<Answer> {
    const response = await this.#send(method, headers, body)
    let text = ''
    for await (const piece of response.setEncoding('utf8')) text += String(piece)
    return { status: response.statusCode ?? 0, headers: response.headers, text }
  }

  /** A stream of events, or the answer that refuses it. */
  async stream(
    headers: Readonly<Record<string, string>>,
    onEvent?: (event: SseEvent) => void,
  ): Promise<EventReader | Answer> {
    const response = await this.#send('GET', { accept: 'text/event-stream', ...headers }, '')
    if (response.statusCode === 200) return new EventReader(response, onEvent)
    let text = ''
    for await (const piece of response.setEncoding('utf8')) text += String(piece)
    return { status: response.statusCode ?? 0, headers: response.headers, text }
  }

  /** Breaks every connection off. */
  destroy(): void {
    for (const one of this.#open) one.destroy()
    this.#agent.destroy()
  }

  async #send(method: string, headers: Readonly<Record<string, string>>, body: string): Promise<IncomingMessage> {
    const length = method === 'POST' ? { 'content-length': String(Buffer.byteLength(body)) } : {}
    const sent = (this.#isSecure ? requestTls : request)(this.url, {
      method,
      // Tests make their certificates themselves.
      ...(this.#isSecure && { rejectUnauthorized: false, servername: this.#headers['host'] }),
      headers: { ...this.#headers, ...headers, ...length },
      // A stream keeps its connection; requests take turns on theirs.
      agent: headers['accept'] === undefined ? this.#agent : false,
    })
    this.#open.add(sent)
    sent.once('close', () => this.#open.delete(sent))
    sent.on('error', () => undefined)
    sent.end(body)
    return new Promise((resolve, reject) => {
      sent.once('response', resolve)
      sent.once('error', reject)
      sent.once('close', () => reject(new Error('the server closed before it answered')))
    })
  }
}

interface HttpStreams {
  readonly client: HttpClient
  readonly input: Writable
  readonly output: PassThrough
  readonly closed: Promise<void>
  /** Leaves; the sessions stay. */
  readonly leave: () => Promise<void>
}

export function openHttpStreams(url: string, token: string): HttpStreams {
  const conversation = new Conversation(new HttpClient(url, token))
  let rest = ''
  const input = new Writable({
    async write(bytes: Buffer, _encoding, done) {
      const lines = `${rest}${bytes.toString()}`.split('\n')
      rest = lines.pop() ?? ''
      // It ends when it cannot send.
      await conversation.sendAll(lines)
      done()
    },
  })
  const { client, output, closed } = conversation
  return { client, input: input.setMaxListeners(0), output, closed, leave: () => conversation.leave() }
}

class Conversation {
  readonly client: HttpClient
  // Each case of many that share a connection listens.
  readonly output = new PassThrough().setMaxListeners(0)
  readonly closed: Promise<void>
  readonly #sessions = new Map<string, Promise<void>>()
  /** The session of each request that the server made. */
  readonly #asked = new Map<unknown, string>()
  #id: string | undefined
  #isOver = false

  constructor(client: HttpClient) {
    this.client = client
    this.closed = new Promise((resolve) => this.output.once('close', () => resolve()))
    this.output.once('end', () => this.output.destroy())
  }

  async sendAll(lines: readonly string[]): Promise<void> {
    try {
      for (const line of lines) if (line.trim() !== '') await this.#send(line)
    } catch {
      // The server is gone; whoever waits hears of that.
      this.#end()
    }
  }

  async leave(): Promise<void> {
    this.#isOver = true
    if (this.#id !== undefined)
      await this.client.ask('DELETE', { 'acp-connection-id': this.#id }).catch(() => undefined)
    this.client.destroy()
    this.#end()
  }

  async #send(line: string): Promise<void> {
    const message = fieldsIn(line)
    const { sessionId } = fieldsOf(message['params'])
    const named = message['method'] === undefined ? this.#asked.get(message['id']) : sessionId
    // Any other id cannot stand in a header.
    const about = typeof named === 'string' && /^[!-~]{1,1024}$/u.test(named) ? named : undefined
    if (about !== undefined && this.#id !== undefined) await this.#readSession(about)
    const headers = {
      ...(this.#id !== undefined && { 'acp-connection-id': this.#id }),
      ...(about !== undefined && { 'acp-session-id': about }),
    }
    const { status, headers: answered, text } = await this.client.post(line, headers)
    const id = answered['acp-connection-id']
    if (typeof id === 'string' && this.#id === undefined) {
      this.#id = id
      await this.#read({ 'acp-connection-id': id })
    }
    if (status !== 202) this.#heard(answered['content-type'] === 'application/json' ? text : refused(message, text))
  }

  #readSession(sessionId: string): Promise<void> {
    const known = this.#sessions.get(sessionId)
    if (known !== undefined) return known
    const reading = this.#read({ 'acp-connection-id': this.#id ?? '', 'acp-session-id': sessionId })
    this.#sessions.set(sessionId, reading)
    return reading
  }

  async #read(headers: Readonly<Record<string, string>>): Promise<void> {
    const stream = await this.client.stream(headers, ({ data }) => this.#heard(data))
    if (!(stream instanceof EventReader)) throw new Error(`a stream was refused: ${stream.status} ${stream.text}`)
    void stream.closed.then(() => this.#readOn(headers, stream))
  }

  /** Goes on after the last event, on the same connection; where that cannot be, the conversation has ended. */
  async #readOn(headers: Readonly<Record<string, string>>, { lastId, remarks }: EventReader): Promise<void> {
    const after = lastId ?? headers['last-event-id']
    try {
      if (this.#isOver || after === undefined || /^(?:\d{4} |The connection)/u.test(remarks.at(-1) ?? '')) this.#end()
      else await this.#read({ ...headers, 'last-event-id': after })
    } catch {
      // The server is gone, or knows the connection no longer.
      this.#end()
    }
  }

  #heard(text: string): void {
    const { id, method, params, result } = fieldsIn(text)
    const { sessionId } = fieldsOf(method === undefined ? result : params)
    if (typeof sessionId === 'string' && method === undefined)
      void this.#readSession(sessionId).catch(() => this.#end())
    if (typeof sessionId === 'string' && method !== undefined && id !== undefined) this.#asked.set(id, sessionId)
    this.output.write(`${text}\n`)
  }

  #end(): void {
    this.#isOver = true
    this.output.end()
  }
}

/** A refusal that is no message, as a client of HTTP shows it to its program. */
function refused({ id = null }: Fields, text: string): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32603, message: text.trim() } })
}

function fieldsIn(text: string): Fields {
  try {
    return fieldsOf(JSON.parse(text))
  } catch {
    // Hostile lines are sent as they are.
    return {}
  }
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}
}

export class RawHttp extends RawConnection {
  /** Resolves when no stream can be read any more. */
  readonly closed: Promise<void>
  readonly #streams: HttpStreams

  private constructor(streams: HttpStreams) {
    super(streams.input, streams.output)
    this.#streams = streams
    this.closed = streams.closed
    void this.closed.then(() => this.finish())
  }

  /** Past the first exchange. */
  static async greeted(url: string, token: string): Promise<RawHttp> {
    const client = new RawHttp(openHttpStreams(url, token))
    await client.request('initialize', { protocolVersion: 1, clientCapabilities: {} })
    return client
  }

  /** Every connection breaks; the streams are read on where they were. */
  cut(): void {
    this.#streams.client.destroy()
  }

  leave(): Promise<void> {
    return this.#streams.leave()
  }
}
