/** The server's side of the index worker: a call is a message and its answer. */
import { Worker } from 'node:worker_threads'
import { fail, ParleyError, reasonOf } from '../../errors/parley-error.ts'
import type {
  Call,
  DocumentHit,
  DocumentIndex,
  Excerpt,
  FromWorker,
  IndexOptions,
  Operation,
  Page,
  PassageHit,
  ReadRequest,
  SearchRequest,
  ToWorker,
} from './protocol.ts'

export interface IndexEvents {
  readonly log: (line: string) => void
  readonly directories: (present: readonly boolean[]) => void
}

interface Waiting {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
}

const CLOSE_MS = 3_000

export class IndexClient implements DocumentIndex, AsyncDisposable {
  readonly #worker: Worker
  readonly #events: IndexEvents
  readonly #waiting = new Map<number, Waiting>()
  readonly #ended: Promise<void>
  #lastCall = 0
  /** Why the worker is not there, once it is not. */
  #lost: string | undefined

  constructor(workerUrl: URL, options: IndexOptions, events: IndexEvents) {
    this.#events = events
    this.#worker = new Worker(workerUrl, { workerData: options, name: 'parley-docs' })
    this.#worker.on('message', (message: FromWorker) => this.#receive(message))
    this.#worker.on('error', (error) => this.#lose(reasonOf(error)))
    this.#ended = new Promise((resolve) => {
      this.#worker.on('exit', () => resolve(this.#lose('the index has ended')))
    })
  }

  passages(request: SearchRequest): Promise<Page<PassageHit>> {
    return this.#call('passages', request) as Promise<Page<PassageHit>>
  }

  documents(request: SearchRequest): Promise<Page<DocumentHit>> {
    return this.#call('documents', request) as Promise<Page<DocumentHit>>
  }

  read(request: ReadRequest): Promise<Excerpt> {
    return this.#call('read', request) as Promise<Excerpt>
  }

  async #call(operation: Operation, request: Call['request']): Promise<unknown> {
    if (this.#lost !== undefined) return fail('DOCS_INDEX_UNAVAILABLE', { reason: this.#lost })
    const id = ++this.#lastCall
    const answer = new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }))
    this.#post({ id, operation, request })
    return answer
  }

  #post(message: ToWorker): void {
    this.#worker.postMessage(message)
  }

  #receive(message: FromWorker): void {
    if (message.kind === 'log') return this.#events.log(message.line)
    if (message.kind === 'directories') return this.#events.directories(message.present)
    const waiting = this.#waiting.get(message.id)
    this.#waiting.delete(message.id)
    if (message.kind === 'answer') waiting?.resolve(message.value)
    else waiting?.reject(new ParleyError(message.code, message.details))
  }

  #lose(reason: string): void {
    if (this.#lost === undefined) this.#events.log(`The document index is not running: ${reason}`)
    this.#lost ??= reason
    for (const { reject } of this.#waiting.values()) reject(new ParleyError('DOCS_INDEX_UNAVAILABLE', { reason }))
    this.#waiting.clear()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#lost !== undefined) return
    this.#lost = 'the server is closing'
    this.#post('close')
    const late = setTimeout(() => void this.#worker.terminate(), CLOSE_MS)
    await this.#ended
    clearTimeout(late)
  }
}
