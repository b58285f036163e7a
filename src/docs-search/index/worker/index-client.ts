/** The document index as its owner sees it: a thread that answers, and is started again when it ends. */
import { MessageChannel } from 'node:worker_threads'
import { backoffMs } from '../../../async/backoff.ts'
import { ParleyError } from '../../../errors/parley-error.ts'
import { WorkerThread } from '../../../threads/worker-thread.ts'
import type { Collection } from '../collections.ts'
import { watchFor } from './directory-watches.ts'
import type {
  Changes,
  DocumentHit,
  DocumentIndex,
  DocumentList,
  DocumentOutline,
  Excerpt,
  IndexCalls,
  IndexEvent,
  IndexOptions,
  ListRequest,
  OutlineRequest,
  HitPage,
  PassagePage,
  ReadDocumentRequest,
  SearchDocumentsRequest,
  ServeOptions,
  Shown,
  ShowRequest,
} from './protocol.ts'

export interface IndexEvents {
  readonly log: (line: string) => void
  /** The names of the collections whose directories are there. */
  readonly present: (names: readonly string[]) => void
  readonly changed: (changes: Changes) => void
}

const CLOSE_TIMEOUT_MS = 3_000
/** A thread that ended is started again after a growing pause. After several short lives it is not started again. */
const RESTART = { firstMs: 500, longestMs: 8_000 }
const MAX_SHORT_LIVES = 5
const LONG_LIFE_MS = 60_000

export class IndexClient implements DocumentIndex, AsyncDisposable {
  readonly #workerUrl: URL
  readonly #options: IndexOptions
  readonly #events: IndexEvents
  #collections: readonly Collection[]
  #thread: WorkerThread<IndexCalls>
  #restartTimer: NodeJS.Timeout | undefined
  #shortLives = 0
  #isClosed = false

  constructor(workerUrl: URL, options: IndexOptions, events: IndexEvents) {
    this.#workerUrl = workerUrl
    this.#options = options
    this.#events = events
    this.#collections = options.collections
    this.#thread = this.#start()
  }

  /** Serves these from now on. */
  setCollections(collections: readonly Collection[]): void {
    this.#collections = collections
    this.#thread.notify('collections', collections)
  }

  passages(request: SearchDocumentsRequest): Promise<PassagePage> {
    return this.#thread.call('passages', request)
  }

  documents(request: SearchDocumentsRequest): Promise<HitPage<DocumentHit>> {
    return this.#thread.call('documents', request)
  }

  read(request: ReadDocumentRequest): Promise<Excerpt> {
    return this.#thread.call('read', request)
  }

  list(request: ListRequest): Promise<DocumentList> {
    return this.#thread.call('list', request)
  }

  outline(request: OutlineRequest): Promise<DocumentOutline> {
    return this.#thread.call('outline', request)
  }

  show(request: ShowRequest): Promise<Shown> {
    return this.#thread.call('show', request)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#restartTimer)
    const thread = this.#thread
    thread.notify('close', undefined)
    const late = setTimeout(() => void thread.terminate(), CLOSE_TIMEOUT_MS)
    await thread.exited
    clearTimeout(late)
  }

  #start(): WorkerThread<IndexCalls> {
    const { port1, port2 } = new MessageChannel()
    watchFor(port1)
    const workerData: ServeOptions = { serve: { ...this.#options, collections: this.#collections }, watches: port2 }
    const since = performance.now()
    return new WorkerThread<IndexCalls>(
      this.#workerUrl,
      { workerData, transferList: [port2], name: 'parley-docs' },
      {
        event: (event) => this.#hear(event as IndexEvent),
        ended: (reason) => this.#ended(reason, performance.now() - since),
      },
    )
  }

  #hear(event: IndexEvent): void {
    switch (event.kind) {
      case 'log':
        return this.#events.log(event.line)
      case 'present':
        return this.#events.present(event.names)
      case 'changed':
        return this.#events.changed(event)
    }
  }

  #ended(reason: string, livedMs: number): ParleyError {
    if (this.#isClosed) return new ParleyError('DOCS_INDEX_UNAVAILABLE', { reason: 'the server is closing' })
    this.#shortLives = livedMs < LONG_LIFE_MS ? this.#shortLives + 1 : 1
    const again = this.#shortLives <= MAX_SHORT_LIVES
    this.#events.log(`The document index is not running: ${reason}${again ? '; it is started again' : ''}`)
    if (again) void this.#restart(backoffMs(this.#shortLives, RESTART))
    return new ParleyError('DOCS_INDEX_UNAVAILABLE', { reason })
  }

  async #restart(pauseMs: number): Promise<void> {
    // The file belongs to the old thread until that is gone.
    await this.#thread.exited
    if (!this.#isClosed) this.#restartTimer = setTimeout(() => (this.#thread = this.#start()), pauseMs)
  }
}
