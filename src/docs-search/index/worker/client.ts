/** The server's side of the index worker: a call is a message and its answer. */
import { Worker } from 'node:worker_threads'
import { fail, ParleyError, reasonOf } from '../../../errors/parley-error.ts'
import type { Collection } from '../collections.ts'
import type {
  Changes,
  DocumentHit,
  DocumentIndex,
  DocumentList,
  DocumentOutline,
  Excerpt,
  FromWorker,
  IndexOptions,
  ListRequest,
  Operation,
  OperationRequest,
  OutlineRequest,
  Page,
  PassagePage,
  ReadRequest,
  SearchRequest,
  Shown,
  ShowRequest,
  ToWorker,
} from './protocol.ts'

export interface IndexEvents {
  readonly log: (line: string) => void
  /** The names of the collections whose directories are there. */
  readonly present: (names: readonly string[]) => void
  readonly changed: (changes: Changes) => void
}

interface PendingCall {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
}

const CLOSE_TIMEOUT_MS = 3_000
/** A worker that ended is started again, after a growing pause. After several short lives it is not started again. */
const FIRST_RESTART_MS = 250
const MAX_SHORT_LIVES = 5
const LONG_LIFE_MS = 60_000

export class IndexClient implements DocumentIndex, AsyncDisposable {
  readonly #start: (collections: readonly Collection[]) => Worker
  readonly #events: IndexEvents
  readonly #pending = new Map<number, PendingCall>()
  #collections: readonly Collection[]
  #worker: Worker
  #ended: Promise<void> = Promise.resolve()
  #restartTimer: NodeJS.Timeout | undefined
  #lastCall = 0
  #shortLives = 0
  /** Why there is no worker; undefined while there is one. */
  #lost: string | undefined
  #closed = false

  constructor(workerUrl: URL, options: IndexOptions, events: IndexEvents) {
    this.#events = events
    this.#collections = options.collections
    this.#start = (collections) =>
      new Worker(workerUrl, { workerData: { ...options, collections } satisfies IndexOptions, name: 'parley-docs' })
    this.#worker = this.#launch()
  }

  #launch(): Worker {
    const worker = this.#start(this.#collections)
    const since = performance.now()
    let reason = 'the index has ended'
    this.#lost = undefined
    worker.on('message', (message: FromWorker) => this.#receive(message))
    worker.on('error', (error) => void (reason = reasonOf(error)))
    this.#ended = new Promise((resolve) => {
      worker.on('exit', () => resolve(this.#lose(reason, performance.now() - since)))
    })
    return worker
  }

  /** Serves these from now on. */
  setCollections(collections: readonly Collection[]): void {
    this.#collections = collections
    if (this.#lost === undefined) this.#post({ collections })
  }

  passages(request: SearchRequest): Promise<PassagePage> {
    return this.#call('passages', request) as Promise<PassagePage>
  }

  documents(request: SearchRequest): Promise<Page<DocumentHit>> {
    return this.#call('documents', request) as Promise<Page<DocumentHit>>
  }

  read(request: ReadRequest): Promise<Excerpt> {
    return this.#call('read', request) as Promise<Excerpt>
  }

  list(request: ListRequest): Promise<DocumentList> {
    return this.#call('list', request) as Promise<DocumentList>
  }

  outline(request: OutlineRequest): Promise<DocumentOutline> {
    return this.#call('outline', request) as Promise<DocumentOutline>
  }

  show(request: ShowRequest): Promise<Shown> {
    return this.#call('show', request) as Promise<Shown>
  }

  async #call(operation: Operation, request: OperationRequest): Promise<unknown> {
    if (this.#lost !== undefined) return fail('DOCS_INDEX_UNAVAILABLE', { reason: this.#lost })
    const id = ++this.#lastCall
    const answer = new Promise((resolve, reject) => this.#pending.set(id, { resolve, reject }))
    this.#post({ id, operation, request })
    return answer
  }

  #post(message: ToWorker): void {
    this.#worker.postMessage(message)
  }

  #receive(message: FromWorker): void {
    if (message.kind === 'log') return this.#events.log(message.line)
    if (message.kind === 'present') return this.#events.present(message.names)
    if (message.kind === 'changed') return this.#events.changed(message)
    const waiting = this.#pending.get(message.id)
    this.#pending.delete(message.id)
    if (message.kind === 'answer') waiting?.resolve(message.value)
    else waiting?.reject(new ParleyError(message.code, message.details))
  }

  #lose(reason: string, livedMs: number): void {
    for (const { reject } of this.#pending.values()) reject(new ParleyError('DOCS_INDEX_UNAVAILABLE', { reason }))
    this.#pending.clear()
    if (this.#closed) return
    this.#lost = reason
    this.#shortLives = livedMs < LONG_LIFE_MS ? this.#shortLives + 1 : 1
    const again = this.#shortLives <= MAX_SHORT_LIVES
    this.#events.log(`The document index is not running: ${reason}${again ? '; it is started again' : ''}`)
    if (again)
      this.#restartTimer = setTimeout(() => (this.#worker = this.#launch()), FIRST_RESTART_MS * 2 ** this.#shortLives)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true
    clearTimeout(this.#restartTimer)
    if (this.#lost !== undefined) return
    this.#lost = 'the server is closing'
    this.#post('close')
    const late = setTimeout(() => void this.#worker.terminate(), CLOSE_TIMEOUT_MS)
    await this.#ended
    clearTimeout(late)
  }
}
