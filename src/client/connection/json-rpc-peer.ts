/** JSON-RPC from the client's side: requests with their answers, notifications, and what the other side asks of us. */
import { ParleyError, fail, isParleyError } from '../../errors/parley-error.ts'
import type { Pipe } from './pipe.ts'
import type { Served } from '../incoming/client-methods.ts'
import { type Patience, SilenceWatch } from './silence.ts'

export type RequestId = string | number | null

/** What a client does with what it hears. */
export interface Listener {
  notified(method: string, params: unknown): void
  /** True when it takes the request upon itself and answers it; anything else is answered as unknown. */
  requested(id: RequestId, method: string, params: unknown): boolean
  /** The other side has closed, or we have, for a reason if that was no wish; whoever waits hears of it after this. */
  ended(why?: ParleyError): void
}

interface Waiting {
  readonly method: string
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
}

type Message = Readonly<Record<string, unknown>>

const METHOD_NOT_FOUND = -32601

export class Peer {
  readonly #pipe: Pipe
  readonly #listener: Listener
  readonly #waiting = new Map<RequestId, Waiting>()
  readonly #silence: SilenceWatch | undefined
  #ended = false
  /** Resolves when the other side has closed, or we have. Never rejects. */
  readonly closed: Promise<void>

  /** Without `patience`, an answer is awaited for as long as the connection lasts. */
  constructor(pipe: Pipe, listener: Listener, patience?: Patience) {
    this.#pipe = pipe
    this.#listener = listener
    this.#silence = patience && new SilenceWatch(patience, (why) => this.leave(why))
    this.closed = this.#listen()
  }

  get ended(): boolean {
    return this.#ended
  }

  /**
   * Ids are the caller's: they must differ from all that it ever used, on other connections too. Throws PEER_REFUSED with the
   * other side's own words, or CONNECTION_LOST. The result may be null.
   */
  request(id: RequestId, method: string, params: unknown): Promise<unknown> {
    const answer = this.expect(id, method)
    this.#send({ id, method, params })
    return answer
  }

  /** The answer to a request that an earlier connection has carried. */
  expect(id: RequestId, method: string): Promise<unknown> {
    if (this.#ended) return Promise.reject(new ParleyError('CONNECTION_LOST', { method }))
    this.#silence?.asked(id, method)
    return new Promise((resolve, reject) => this.#waiting.set(id, { method, resolve, reject }))
  }

  notify(method: string, params: unknown): void {
    this.#send({ method, params })
  }

  answer(id: RequestId, result: unknown): void {
    this.reply(id, { result })
  }

  reply(id: RequestId, served: Served): void {
    this.#silence?.paid(id)
    this.#send({ id, ...served })
  }

  /** Whoever still waits for an answer hears that it will not come. Idempotent. */
  close(): void {
    this.leave()
  }

  /** Ends it for a reason of ours, which whoever still waits for an answer hears. Idempotent. */
  leave(why?: ParleyError): void {
    this.#end(why)
    this.#pipe.close()
  }

  async #listen(): Promise<void> {
    try {
      for await (const text of this.#pipe.messages) this.#take(text)
      this.#end()
    } catch (error) {
      // A connection that breaks has ended, and whoever waits for an answer is told so; why, if it is we who gave up on it.
      this.leave(isParleyError(error) ? error : undefined)
    }
  }

  /** An error of ours is told as one, and not as a connection that broke. */
  #take(text: string): void {
    try {
      this.#receive(text)
    } catch (error) {
      this.leave(isParleyError(error) ? error : new ParleyError('INTERNAL_ERROR', {}, error))
    }
  }

  /** What is no message is skipped: the other side's stray output must not end the conversation. */
  #receive(text: string): void {
    const message = messageOf(text)
    if (message === undefined || this.#ended) return
    this.#silence?.spoke()
    const { id, method, params } = message
    if (typeof method !== 'string') return this.#answered(message)
    if (!('id' in message)) return this.#listener.notified(method, params)
    this.#silence?.owes(id)
    if (this.#listener.requested(id as RequestId, method, params)) return
    this.#silence?.paid(id)
    this.#send({ id, error: { code: METHOD_NOT_FOUND, message: `Method not found: ${method}` } })
  }

  #answered({ id, result, error }: Message): void {
    const waiting = this.#waiting.get(id as RequestId)
    if (waiting === undefined) return
    this.#waiting.delete(id as RequestId)
    this.#silence?.answered(id)
    if (error === undefined || error === null) waiting.resolve(result)
    else waiting.reject(refusal(waiting.method, error))
  }

  #end(why?: ParleyError): void {
    if (this.#ended) return
    this.#ended = true
    this.#silence?.end()
    this.#listener.ended(why)
    for (const { method, reject } of this.#waiting.values())
      reject(why ?? new ParleyError('CONNECTION_LOST', { method }))
    this.#waiting.clear()
  }

  #send(message: Message): void {
    if (!this.#ended) this.#pipe.send(JSON.stringify({ jsonrpc: '2.0', ...message }))
  }
}

function messageOf(text: string): Message | undefined {
  try {
    const message: unknown = JSON.parse(text)
    return typeof message === 'object' && message !== null ? (message as Message) : undefined
  } catch {
    // Not JSON, so not a message.
    return undefined
  }
}

/** The other side's sentence; its own code where it names one, else the number of JSON-RPC. */
function refusal(method: string, error: unknown): ParleyError {
  const { code, message, data } = (error ?? {}) as Message
  const known = [(data as Message | undefined | null)?.['code'], code]
  const named = known.find((one): one is string | number => typeof one === 'string' || typeof one === 'number')
  return new ParleyError('PEER_REFUSED', {
    method,
    code: String(named ?? 'unknown'),
    reason: typeof message === 'string' && message !== '' ? message : 'the other side gave no reason',
  })
}

/** Throws CAPABILITY_MISSING: what was not advertised is never called. */
export function requireOffered(method: string, offered: boolean): void {
  if (!offered) fail('CAPABILITY_MISSING', { method })
}
