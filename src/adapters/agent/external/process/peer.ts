/**
 * JSON-RPC with an agent over its stdin and stdout. One reader handles the messages strictly in the order in which they
 * arrived: a response is handled after all updates before it, and nothing is read on while the journal is behind.
 */
import { LineFraming, TooLong, decodeUtf8, type Frame } from '../../../../rpc/framing.ts'
import {
  PendingRequests,
  notificationMessage,
  parseMessage,
  refuseCostly,
  requestMessage,
  resultMessage,
  type Message,
  type Request,
  type RequestId,
  type Response,
  type Unreadable,
} from '../../../../rpc/json-rpc.ts'
import type { Child } from '../../../../ports/process.ts'
import type { Clock } from '../../../../ports/clock.ts'
import { ReadingPace } from './reading-pace.ts'
import { METHOD_UNKNOWN, WireError } from './wire-error.ts'

/** Bytes of one line. */
export const MAX_LINE_BYTES = 64 * 1024 * 1024
/** Of a line that is no message, for the log. */
const MAX_NOISE_CHARS = 500

/** The part of Parley that speaks with this agent. */
export interface PeerListener {
  /** The next message is handled once this resolves; at once where there is nothing to wait for. */
  notified(method: string, params: unknown): Promise<void> | undefined
  /** Resolves when there is room for more; asked once for all the lines of a read. Absent, there always is. */
  readonly room?: () => Promise<void> | undefined
  /** Called in the order of arrival; reading continues meanwhile. Undefined for a method that Parley does not have. */
  requested(method: string, params: unknown, id: RequestId): Promise<unknown> | undefined
  /** A line on stdout that is no message, or a message that fits nothing. */
  noise(line: string): void
}

/** An answer to a request of the agent that is an error of JSON-RPC. */
export class RefusedRequest extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

export class AgentPeer {
  readonly #child: Child
  readonly #listener: PeerListener
  readonly #clock: Pick<Clock, 'monotonicNow' | 'sleep'>
  readonly #pending = new PendingRequests('')
  #lastId = 0
  #heard = 0
  #owed = 0
  #isOver = false
  #isTooLong = false
  #hasTextIds = false

  constructor(child: Child, listener: PeerListener, clock: Pick<Clock, 'monotonicNow' | 'sleep'>) {
    this.#child = child
    this.#listener = listener
    this.#clock = clock
  }

  /** Counts the lines that came: silence is when it stays the same. */
  get heard(): number {
    return this.#heard
  }

  /** Its requests that it has no answer to yet. */
  get owed(): number {
    return this.#owed
  }

  /** The agent wrote a line that is longer than any may be; nothing after it was read. */
  get wroteTooLong(): boolean {
    return this.#isTooLong
  }

  /** It has answered with the id of a request as a text, `"3"` for 3: JSON-RPC wants it unchanged. */
  get hasTextIds(): boolean {
    return this.#hasTextIds
  }

  /** Reads until stdout ends, or a line is too long. Never throws. */
  async read(): Promise<void> {
    const framing = new LineFraming(MAX_LINE_BYTES)
    const pace = new ReadingPace(this.#clock)
    for await (const chunk of this.#child.stdout) {
      const lines = framing.push(chunk)
      if (this.#isOver || !(await this.#take(lines))) return
      const pause = pace.next(lines.length, chunk.length)
      if (pause !== undefined) await pause
    }
    await this.#take(framing.end())
  }

  /**
   * The result. `answered` is called with the response before any later message is handled. Throws WireError, and
   * `PROCESS_GONE` if the request could not be written; never settles once the process is gone.
   */
  async request(method: string, params: unknown, answered?: () => void): Promise<unknown> {
    return (await this.send(method, params, answered)).result
  }

  /** The same, and resolves when the request was written. */
  async send(method: string, params: unknown, answered?: () => void): Promise<{ readonly result: Promise<unknown> }> {
    this.#lastId += 1
    const id = this.#lastId
    const response = new Promise<Response>((resolve) => {
      this.#pending.expect(id, (came) => {
        answered?.()
        resolve(came)
      })
    })
    await this.#write(requestMessage(id, method, params))
    return { result: response.then(resultOf) }
  }

  /** Never throws: an agent that is gone is noticed elsewhere. */
  async notify(method: string, params: unknown): Promise<void> {
    await this.#write(notificationMessage(method, params)).catch(() => undefined)
  }

  /** Nothing is handled any more. */
  end(): void {
    this.#isOver = true
    this.#pending.takeAll()
  }

  async #take(frames: readonly Frame[]): Promise<boolean> {
    for (const frame of frames) {
      if (this.#isOver) return false
      if (frame instanceof TooLong) {
        this.#isTooLong = true
        return false
      }
      // A read holds hundreds of tokens: waiting for each of them, though nothing is to be waited for, costs more than they do.
      const handled = this.#line(frame)
      if (handled !== undefined) await handled
    }
    const room = this.#listener.room?.()
    if (room !== undefined) await room
    return true
  }

  #line(bytes: Uint8Array): Promise<void> | undefined {
    this.#heard += 1
    const text = (decodeUtf8(bytes) ?? Buffer.from(bytes).toString('utf8')).trim()
    if (text === '') return undefined
    const message = text.startsWith('{') ? (refuseCostly(text) ?? parseMessage(text, 'lenient')) : undefined
    if (message === undefined || message.kind === 'unreadable') return this.#unreadable(text, message)
    return this.#handle(message)
  }

  #handle(message: Message): Promise<void> | undefined {
    switch (message.kind) {
      case 'notification':
        return this.#listener.notified(message.method, message.params)
      case 'request':
        this.#requested(message)
        return undefined
      case 'response': {
        const waiter = this.#pending.take(this.#ownId(message.id))
        if (waiter === undefined) this.#listener.noise(`a response to request ${String(message.id)}, which is not open`)
        else waiter(message)
        return undefined
      }
    }
  }

  /** The id as it was sent. */
  #ownId(id: RequestId): RequestId {
    const isText = typeof id === 'string' && /^[1-9]\d{0,14}$/u.test(id)
    this.#hasTextIds ||= isText
    return isText ? Number(id) : id
  }

  #requested({ id, method, params }: Request): void {
    const answer = this.#listener.requested(method, params, id)
    if (answer === undefined) {
      this.#listener.noise(`refused the request ${method}, which Parley does not have`)
      this.#refuse(id, new RefusedRequest(METHOD_UNKNOWN, `Parley does not have the method ${method}.`))
      return
    }
    this.#owed += 1
    void answer
      .then(
        (result) => this.#write(resultMessage(id, result)).catch(() => undefined),
        (error: unknown) => this.#refuse(id, error),
      )
      .finally(() => (this.#owed -= 1))
  }

  #refuse(id: RequestId, error: unknown): void {
    const { code = -32_603, message } = error as Partial<RefusedRequest>
    const number = typeof code === 'number' ? code : -32_603
    const text = JSON.stringify({ jsonrpc: '2.0', id, error: { code: number, message: message ?? 'It failed.' } })
    void this.#write(text).catch(() => undefined)
  }

  #unreadable(text: string, message: Unreadable | undefined): undefined {
    const why = message === undefined ? '' : ` (${message.reason})`
    this.#listener.noise(`not a message${why}: ${text.slice(0, MAX_NOISE_CHARS)}`)
    if (message !== undefined && message.id !== null)
      this.#refuse(message.id, new RefusedRequest(-32_600, message.reason))
    return undefined
  }

  #write(message: string): Promise<void> {
    return this.#child.write(Buffer.from(`${message}\n`))
  }
}

function resultOf({ error, result }: Response): unknown {
  if (error !== undefined) throw new WireError(error)
  return result
}
