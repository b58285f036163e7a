/** The search index as the rest of the process sees it. Its thread is started when there is something to do. */
import { ParleyError } from '../../../errors/parley-error.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Journal, SessionId } from '../../../ports/journal.ts'
import type { IndexState, SearchAnswer, SearchIndex, SearchRequest } from '../../../ports/search.ts'
import { WorkerThread } from '../../../threads/worker-thread.ts'
import type { SearchCalls } from './search-loop.ts'

export interface SearchOptions {
  /** The state directory. */
  readonly directory: string
  readonly workerUrl: URL
  readonly clock: Clock
  /** Further data that is passed to its thread. */
  readonly order?: object
  /** Leaves no file beside the index. */
  readonly quiet?: boolean
  readonly report: (error: unknown) => void
}

/** Changes are collected until there was none for this long: while an agent talks, the processor is left to it. */
const COLLECT_MS = 200
/** Changes are passed on after this long, even if more keep coming. A query does not wait for it: it passes them on itself. */
const COLLECT_AT_MOST_MS = 10_000
/** The thread takes 45 ms of processor time to start, and 9 MiB: whatever else a server that starts has to do comes first. A query starts it at once. */
const START_DELAY_MS = 30_000
/** The thread holds no transcripts; one that needs more memory is broken. */
const HEAP_MB = 128
/** Most of what the thread allocates is soon unused; a large young generation would only take memory. */
const YOUNG_GENERATION_MB = 2

export function openSearchIndex(options: SearchOptions): SearchIndex {
  return new Client(options)
}

/** Tells the index of each change of this journal, once it is stored. */
export function followJournal(journal: Pick<Journal, 'watch'>, index: Pick<SearchIndex, 'changed'>): void {
  journal.watch((change) => index.changed(change.kind === 'changed' ? change.row.id : change.id))
}

class Client implements SearchIndex {
  readonly #options: SearchOptions
  readonly #changed = new Set<SessionId>()
  #thread: WorkerThread<SearchCalls> | undefined
  #exited: Promise<void> = Promise.resolve()
  /** When the first and the last of the collected changes came. */
  #collecting: { readonly firstAt: number; lastAt: number } | undefined
  /** The thread will be started for the changes so far. */
  #isStarting = false
  #isClosed = false

  constructor(options: SearchOptions) {
    this.#options = options
  }

  async search(request: SearchRequest): Promise<SearchAnswer> {
    this.#passOn()
    return this.#open().call('search', request)
  }

  async inspect(): Promise<IndexState> {
    return this.#open().call('inspect', undefined)
  }

  changed(session: SessionId): void {
    this.#changed.add(session)
    const now = this.#options.clock.monotonicNow()
    if (this.#collecting !== undefined) this.#collecting.lastAt = now
    else if (this.#thread === undefined) this.follow()
    else if (!this.#isClosed) this.#collect({ firstAt: now, lastAt: now }, COLLECT_MS)
  }

  follow(): void {
    if (this.#isStarting || this.#isClosed) return
    this.#isStarting = true
    this.#options.clock.setTimer(START_DELAY_MS, () => {
      this.#isStarting = false
      if (!this.#isClosed) this.#running().notify('changed', this.#take())
    })
  }

  async close(): Promise<void> {
    if (!this.#isClosed) this.#thread?.notify('close', undefined)
    this.#isClosed = true
    await this.#exited
  }

  #open(): WorkerThread<SearchCalls> {
    if (this.#isClosed) throw new ParleyError('SEARCH_UNAVAILABLE', { reason: 'the server is stopping' })
    return this.#running()
  }

  #collect(since: { readonly firstAt: number; lastAt: number }, waitMs: number): void {
    this.#collecting = since
    this.#options.clock.setTimer(waitMs, () => {
      const now = this.#options.clock.monotonicNow()
      const leftMs = Math.min(since.lastAt + COLLECT_MS, since.firstAt + COLLECT_AT_MOST_MS) - now
      if (leftMs >= 1) return this.#collect(since, leftMs)
      this.#collecting = undefined
      if (!this.#isClosed) this.#passOn()
    })
  }

  #passOn(): void {
    const sessions = this.#take()
    if (sessions.length > 0 && !this.#isClosed) this.#running().notify('changed', sessions)
  }

  #take(): readonly SessionId[] {
    const sessions = [...this.#changed]
    this.#changed.clear()
    return sessions
  }

  #running(): WorkerThread<SearchCalls> {
    this.#thread ??= this.#start()
    return this.#thread
  }

  #start(): WorkerThread<SearchCalls> {
    const { directory, workerUrl, order, quiet = false, report } = this.#options
    const thread = new WorkerThread<SearchCalls>(
      workerUrl,
      {
        workerData: { ...order, directory, quiet },
        name: 'parley search',
        resourceLimits: { maxOldGenerationSizeMb: HEAP_MB, maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
      },
      {
        event: (sentence) => report(new Error(String(sentence))),
        ended: (reason) => {
          // The next query or change starts another thread, which catches up with the journal.
          this.#thread = undefined
          return new ParleyError('SEARCH_UNAVAILABLE', { reason })
        },
      },
    )
    this.#exited = thread.exited
    return thread
  }
}
