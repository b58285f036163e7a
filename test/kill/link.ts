/**
 * What a client on another machine does with a connection that breaks: it comes back, resumes its session behind the last update
 * that it has, and asks again for what was not answered. Nothing of ours is between it and the wire.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Fields, type Message, updatesIn } from '../e2e/message.ts'
import type { RawConnection } from '../wire/raw-connection.ts'

export type Far = RawConnection & { readonly closed: Promise<unknown>; leave(): Promise<void> }

interface LinkParts {
  /** A new connection past `initialize`. Rejects where none is to be had now. */
  readonly dial: () => Promise<Far>
  /** A message for the client. */
  readonly heard: (message: Message) => void
  readonly isOver: () => boolean
}

const PAUSE_MS = 20

export class Link {
  readonly #parts: LinkParts
  /** The requests of the client that have no answer yet, in their order. */
  readonly #open = new Map<Message['id'], Fields>()
  /** What a session was opened with. */
  #opening: Fields | undefined
  /** The last update that the client has, of the load that it waits for or of all. */
  #cursor = 0
  #far: Far | undefined
  #rest = ''
  /** How often it came back. */
  returns = 0

  constructor(parts: LinkParts) {
    this.#parts = parts
    void this.#connect()
  }

  /** Lines of the client. */
  write(bytes: Buffer): void {
    const lines = `${this.#rest}${bytes.toString()}`.split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) this.#send(JSON.parse(line) as Fields)
  }

  async leave(): Promise<void> {
    await this.#far?.leave()
  }

  #send(message: Fields): void {
    if (message['method'] !== undefined && message['id'] !== undefined) {
      this.#open.set(message['id'] as Message['id'], message)
      if (message['method'] === 'session/load') this.#cursor = 0
    }
    // Without a connection a request waits for the next; an answer is asked for anew there.
    this.#far?.send(message)
  }

  async #connect(): Promise<void> {
    while (!this.#parts.isOver()) {
      const far = await this.#dialled().catch(() => undefined)
      if (far === undefined) {
        await sleep(PAUSE_MS)
        continue
      }
      await far.closed
      this.#far = undefined
      void far.leave().catch(() => undefined)
      this.returns += 1
    }
  }

  async #dialled(): Promise<Far> {
    const far = await this.#parts.dial()
    try {
      far.listen((message) => this.#heard(message))
      await this.#resume(far)
    } catch (error) {
      void far.leave().catch(() => undefined)
      throw error
    }
    for (const request of this.#open.values()) far.send(request)
    this.#far = far
    return far
  }

  /** A load that broke off in the middle goes on behind what it has told; its answer comes after the rest. */
  async #resume(far: Far): Promise<void> {
    const load = [...this.#open.values()].find(({ method }) => method === 'session/load')
    if (load !== undefined) this.#opening = load['params'] as Fields
    if (this.#opening === undefined || (load !== undefined && this.#cursor === 0)) return
    const _meta = { 'parley/after': this.#cursor }
    const { error, result } = await asked(far, 'session/resume', { ...this.#opening, _meta })
    if (error !== undefined) throw new Error(error.message)
    if (load === undefined) return
    // What concerns one session is answered in the order in which it was asked.
    await asked(far, 'session/prompt', { sessionId: this.#opening['sessionId'], prompt: [] })
    this.#answered({ jsonrpc: '2.0', id: (load['id'] ?? null) as string | number | null, result: result ?? {} })
  }

  #heard(message: Message): void {
    if (typeof message.id === 'string' && message.id.startsWith(OURS) && message.method === undefined) return
    for (const { seq } of updatesIn([message])) this.#cursor = seq
    if (message.method === undefined) this.#answered(message)
    else this.#parts.heard(message)
  }

  /** Of two answers, as when a request was sent again, the client has the first. */
  #answered(message: Message): void {
    const request = this.#open.get(message.id)
    if (request === undefined) return
    this.#open.delete(message.id)
    const sessionId = message.result?.['sessionId']
    if (request['method'] === 'session/new' && sessionId !== undefined)
      this.#opening = { ...(request['params'] as Fields), sessionId }
    if (request['method'] === 'session/load') this.#opening = request['params'] as Fields
    this.#parts.heard(message)
  }
}

/** The ids of requests that the client knows nothing of begin so. */
const OURS = 'link '
let count = 0

function asked(far: Far, method: string, params: Fields): Promise<Message> {
  const id = `${OURS}${(count += 1)}`
  far.send({ id, method, params })
  return far.answerTo(id)
}
