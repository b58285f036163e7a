/** A model server that says what a script says: real HTTP in the formats of OpenAI, Anthropic and Google. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { anthropic } from './anthropic.ts'
import type { Body, Refusal, Wire } from './format.ts'
import { google } from './google.ts'
import { openai } from './openai.ts'
import { responses } from './responses.ts'
import { type Asked, type Format, type Saying, type Script, type Step, stepOf } from './script.ts'
import { type Deed, type Event, eventsOf } from './turn.ts'

export interface ModelServer {
  /** `http://127.0.0.1:PORT`; OpenAI and Anthropic are at `/v1`, Google at `/v1beta`. */
  readonly url: string
  /** What was asked so far, first things first. */
  readonly requests: readonly Asked[]
  /** Answers that are being written. */
  readonly open: number
  /** Resolves with the request number `index`, at once if it has come. */
  request(index: number): Promise<Asked>
  /** Resolves once no answer is being written. */
  quiet(): Promise<void>
  /** Resolves once an answer has waited for its reader for so long. */
  stalled(ms: number): Promise<void>
  close(): Promise<void>
}

export interface ModelServerOptions {
  readonly port?: number
  /** What the lists of models hold. */
  readonly models?: readonly string[]
  /** What a request must show. */
  readonly key?: string
}

const wires: Readonly<Record<Format, Wire>> = { openai, anthropic, google, responses }

export async function startModelServer(script: Script, options: ModelServerOptions = {}): Promise<ModelServer> {
  const stage = new Stage(script)
  const server = createServer((request, response) => {
    serve({ request, response, stage, options }).catch((error: unknown) => response.destroy(error as Error))
  })
  server.listen(options.port ?? 0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requests: stage.requests,
    get open() {
      return stage.open
    },
    request: (index) => stage.request(index),
    quiet: () => stage.quiet(),
    stalled: (ms) => new Promise((resolve) => stage.watchers.push({ ms, resolve })),
    async close() {
      stage.end.abort()
      server.close()
      server.closeAllConnections()
      if (server.listening) await once(server, 'close')
    },
  }
}

/** What all connections share: where the script is, and what was asked. */
class Stage {
  readonly requests: Asked[] = []
  readonly end = new AbortController()
  open = 0
  readonly watchers: { readonly ms: number; readonly resolve: () => void }[] = []
  #ids = 0
  #waiting: (() => void)[] = []
  readonly #steps: Step[]
  readonly #script: Script

  constructor(script: Script) {
    this.#script = script
    this.#steps = typeof script === 'function' ? [] : script.map(stepOf)
  }

  readonly newId = (): string => `call_${String((this.#ids += 1)).padStart(4, '0')}`

  changed(): void {
    for (const wake of this.#waiting.splice(0)) wake()
  }

  changes(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  async quiet(): Promise<void> {
    while (this.open > 0) await this.changes()
  }

  stalled(ms: number): void {
    for (const watcher of this.watchers) if (ms >= watcher.ms) watcher.resolve()
  }

  async request(index: number): Promise<Asked> {
    let asked = this.requests[index]
    while (asked === undefined) {
      await this.changes()
      asked = this.requests[index]
    }
    return asked
  }

  take(asked: Asked): readonly Saying[] {
    if (typeof this.#script === 'function') return this.#script(asked)
    const body = JSON.stringify(asked.body)
    const fits = ({ when }: Step) => when !== undefined && body.includes(JSON.stringify(when).slice(1, -1))
    const found = this.#steps.find(fits) ?? this.#steps.find(({ when }) => when === undefined)
    if (found === undefined) return [{ fail: 'invalid', words: 'The script of this model server is over.' }]
    if (found.always !== true) this.#steps.splice(this.#steps.indexOf(found), 1)
    return found.say
  }
}

interface Serving {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly stage: Stage
  readonly options: ModelServerOptions
}

async function serve(serving: Serving): Promise<void> {
  const { request, response, stage, options } = serving
  const path = request.url ?? '/'
  const format = formatOf(path, request)
  const wire = wires[format]
  if (options.key !== undefined && !hasKey(request, options.key))
    return refuse(response, wire.failure('key', undefined))
  if (request.method === 'GET' && /^\/v1(?:beta)?\/models(?:\?|$)/u.test(path))
    return answer(response, 200, wire.models(options.models ?? ['scripted']))
  if (request.method !== 'POST') return answer(response, 404, { error: { message: `There is no ${path}` } })
  const body = JSON.parse(await textIn(request)) as Body
  const headers = request.headers as Readonly<Record<string, string | undefined>>
  const asked: Asked = { format, index: stage.requests.length, body, headers, ...wire.read(body, path) }
  stage.requests.push(asked)
  stage.open += 1
  response.once('close', () => {
    stage.open -= 1
    stage.changed()
  })
  stage.changed()
  await play(serving, { asked, wire, sayings: stage.take(asked) })
}

function formatOf(path: string, request: IncomingMessage): Format {
  if (path.startsWith('/v1beta/')) return 'google'
  if (path.startsWith('/v1/responses')) return 'responses'
  return path.startsWith('/v1/messages') || request.headers['anthropic-version'] !== undefined ? 'anthropic' : 'openai'
}

function hasKey({ headers }: IncomingMessage, key: string): boolean {
  return [headers.authorization, headers['x-api-key'], headers['x-goog-api-key']].some(
    (given) => given === key || given === `Bearer ${key}`,
  )
}

async function textIn(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece as Buffer)
  return Buffer.concat(pieces).toString('utf8')
}

interface Playing {
  readonly asked: Asked
  readonly wire: Wire
  readonly sayings: readonly Saying[]
}

async function play({ response, stage }: Serving, { asked, wire, sayings }: Playing): Promise<void> {
  const write = wire.writer(asked.model)
  const line = new Line(response, stage)
  for (const event of eventsOf(sayings, stage.newId)) {
    if (response.destroyed) return
    if (isDeed(event)) {
      if (await isLast(event, { line, response, wire, signal: stage.end.signal })) return
    } else await line.write(write(event))
  }
  await line.end()
}

function isDeed(event: Event | Deed): event is Deed {
  return ['sleep', 'silence', 'cut', 'over', 'fail', 'replay', 'answer'].includes(event.kind)
}

interface Doing {
  readonly line: Line
  readonly response: ServerResponse
  readonly wire: Wire
  readonly signal: AbortSignal
}

/** Whether nothing comes after it. */
async function isLast(deed: Deed, { line, response, wire, signal }: Doing): Promise<boolean> {
  await line.flush()
  switch (deed.kind) {
    case 'sleep':
      await sleep(deed.ms, undefined, { signal, ref: false }).catch(() => undefined)
      return false
    case 'silence':
      return true
    case 'cut':
      response.socket?.destroy()
      return true
    case 'over':
      response.end()
      return true
    case 'replay':
      await replay(response, deed)
      return true
    case 'answer':
      answer(response, deed.status, deed.body, deed.headers)
      return true
    case 'fail': {
      const refusal = wire.failure(deed.fail, deed.words)
      const headers = deed.retryAfter === undefined ? {} : { 'retry-after': deed.retryAfter }
      if (response.headersSent) response.end(wire.broken(refusal))
      else refuse(response, { ...refusal, headers })
      return true
    }
  }
}

/** A reader in this process gets to each piece before the next is written: it would join what comes together. */
async function replay(
  response: ServerResponse,
  { replay: text, everyBytes }: { readonly replay: string; readonly everyBytes: number },
): Promise<void> {
  const bytes = Buffer.from(text)
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (let at = 0; at < bytes.length && !response.destroyed; at += everyBytes) {
    response.write(bytes.subarray(at, at + everyBytes))
    await setImmediate()
  }
  response.end()
}

/** Collects what is written at once, and waits where the reader is slow. */
class Line {
  readonly #response: ServerResponse
  readonly #stage: Stage
  #held: string[] = []
  #size = 0

  constructor(response: ServerResponse, stage: Stage) {
    this.#response = response
    this.#stage = stage
  }

  async write(bytes: string): Promise<void> {
    this.#held.push(bytes)
    this.#size += bytes.length
    if (this.#size > 16_384) await this.flush()
  }

  async flush(): Promise<void> {
    if (this.#size === 0 || this.#response.destroyed) return
    if (!this.#response.headersSent) this.#response.writeHead(200, { 'content-type': 'text/event-stream' })
    const bytes = this.#held.join('')
    this.#held = []
    this.#size = 0
    if (this.#response.write(bytes)) return
    await this.#drained()
  }

  async #drained(): Promise<void> {
    const waiting = setInterval(() => this.#stage.stalled(performance.now() - since), 50)
    const since = performance.now()
    const over = new AbortController()
    const { signal } = over
    // Whichever comes first; the other goes with the signal.
    await Promise.race(['drain', 'close'].map((name) => once(this.#response, name, { signal }))).catch(() => undefined)
    over.abort()
    clearInterval(waiting)
  }

  async end(): Promise<void> {
    await this.flush()
    this.#response.end()
  }
}

function refuse(response: ServerResponse, { status, body, headers = {} }: Refusal): void {
  answer(response, status, body, headers)
}

function answer(
  response: ServerResponse,
  status: number,
  ...[body, headers = {}]: readonly [unknown, Readonly<Record<string, string>>?]
): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text)
}
