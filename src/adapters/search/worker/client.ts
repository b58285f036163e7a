/** The index as the rest of the process sees it: its thread is started when there is something to do. */
import { Worker } from 'node:worker_threads'
import { ParleyError, reasonOf } from '../../../errors/parley-error.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { ImportingJournal, SessionId } from '../../../ports/journal.ts'
import type { IndexState, SearchAnswer, SearchIndex, SearchRequest } from '../../../ports/search.ts'
import type { News, Order } from './messages.ts'

export interface SearchOptions {
  /** What the thread is told. */
  readonly directory: string
  readonly workerUrl: URL
  readonly clock: Clock
  /** For a look that leaves no trace. */
  readonly quiet?: boolean
  readonly report: (error: unknown) => void
}

/** Changes are collected until there were none for so long: who talks has the processor for that. Milliseconds. */
const PAUSE = 200
/** However much is said. Milliseconds. */
const LONGEST = 1_000
/** An owner that starts has more urgent things to do. Milliseconds. */
const LATER = 2_000
/** It holds no transcripts; a thread that needs more is broken. Mebibytes. */
const HEAP = 128
/** What it has just made is soon done with; a large nursery would only sit in memory. MiB. */
const YOUNG = 2

interface Asking {
  resolve(answer: SearchAnswer | IndexState): void
  reject(error: unknown): void
}

export function openSearchIndex(options: SearchOptions): SearchIndex {
  return new Client(options)
}

/** The same journal; the index hears of what is appended, once it is stored. */
export function followed(journal: ImportingJournal, index: Pick<SearchIndex, 'changed'>): ImportingJournal {
  return {
    ...journal,
    async append(append) {
      await journal.append(append)
      index.changed(append.row.id)
    },
    async fork(source, append) {
      await journal.fork(source, append)
      index.changed(append.row.id)
    },
    async importSession(pieces, last) {
      let id: SessionId | undefined
      await journal.importSession(pieces, () => {
        const append = last()
        id = append.row.id
        return append
      })
      if (id !== undefined) index.changed(id)
    },
    async delete(id) {
      const existed = await journal.delete(id)
      index.changed(id)
      return existed
    },
  }
}

class Client implements SearchIndex {
  readonly #options: SearchOptions
  readonly #changed = new Set<SessionId>()
  readonly #asking = new Map<number, Asking>()
  #worker: Worker | undefined
  #exited: Promise<void> = Promise.resolve()
  #calls = 0
  /** When the first of what is collected changed, and the last. */
  #since: { readonly first: number; last: number } | undefined
  #closed = false

  constructor(options: SearchOptions) {
    this.#options = options
  }

  search(request: SearchRequest): Promise<SearchAnswer> {
    this.#tell()
    return this.#ask<SearchAnswer>((call) => ({ kind: 'search', call, request }))
  }

  inspect(): Promise<IndexState> {
    return this.#ask<IndexState>((call) => ({ kind: 'inspect', call }))
  }

  changed(session: SessionId): void {
    this.#changed.add(session)
    const now = this.#options.clock.monotonicNow()
    if (this.#since !== undefined) this.#since.last = now
    else if (!this.#closed) this.#collect({ first: now, last: now }, PAUSE)
  }

  follow(): void {
    this.#options.clock.setTimer(LATER, () => {
      if (!this.#closed) this.#send({ kind: 'changed', sessions: [] })
    })
  }

  async close(): Promise<void> {
    if (!this.#closed && this.#worker !== undefined) this.#send({ kind: 'close' })
    this.#closed = true
    await this.#exited
  }

  #ask<Answer extends SearchAnswer | IndexState>(order: (call: number) => Order): Promise<Answer> {
    if (this.#closed) return Promise.reject(new ParleyError('SEARCH_UNAVAILABLE', { reason: 'the server is stopping' }))
    this.#calls += 1
    const call = this.#calls
    return new Promise<Answer>((resolve, reject) => {
      this.#asking.set(call, { resolve: (answer) => resolve(answer as Answer), reject })
      this.#send(order(call))
    })
  }

  #collect(since: { readonly first: number; last: number }, wait: number): void {
    this.#since = since
    this.#options.clock.setTimer(wait, () => {
      const now = this.#options.clock.monotonicNow()
      const left = Math.min(since.last + PAUSE, since.first + LONGEST) - now
      if (left >= 1) return this.#collect(since, left)
      this.#since = undefined
      if (!this.#closed) this.#tell()
    })
  }

  #tell(): void {
    const sessions = [...this.#changed]
    this.#changed.clear()
    if (sessions.length > 0) this.#send({ kind: 'changed', sessions })
  }

  #send(order: Order): void {
    this.#worker ??= this.#start()
    this.#worker.postMessage(order)
  }

  #start(): Worker {
    const { directory, workerUrl, quiet = false } = this.#options
    const worker = new Worker(workerUrl, {
      workerData: { directory, quiet },
      name: 'parley search',
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: HEAP, maxYoungGenerationSizeMb: YOUNG },
    })
    worker.on('message', (news: News) => this.#hear(news))
    worker.on('error', (error) => this.#lose(worker, reasonOf(error)))
    this.#exited = new Promise((resolve) => {
      worker.on('exit', (code) => {
        this.#lose(worker, `its thread ended with code ${code}`)
        resolve()
      })
    })
    return worker
  }

  #hear(news: News): void {
    if (news.kind === 'report') return this.#options.report(new Error(news.sentence))
    const asking = this.#asking.get(news.call)
    this.#asking.delete(news.call)
    if (news.kind === 'answer') asking?.resolve(news.answer)
    else asking?.reject(new ParleyError(news.code, news.details))
  }

  /** The next that comes starts another thread, which finds by itself what this one has missed. */
  #lose(worker: Worker, reason: string): void {
    if (this.#worker !== worker) return
    this.#worker = undefined
    for (const asking of this.#asking.values()) asking.reject(new ParleyError('SEARCH_UNAVAILABLE', { reason }))
    this.#asking.clear()
  }
}
