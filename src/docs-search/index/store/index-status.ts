/**
 * The status of the index, as its writer reports it: which documents can be searched now, and what an answer must state
 * about gaps.
 */
import { EventEmitter, once } from 'node:events'
import { NO_DOCUMENTS } from '../../../text/notices.ts'
import type { IndexLimits, ServedCollection, DocumentIndexState } from '../worker/protocol.ts'
import { formatCount } from '../../../text/shorten.ts'

const NOTHING: DocumentIndexState = { served: [], settled: false, looked: false, truncated: false, documents: 0 }

export class IndexStatus {
  readonly #limits: IndexLimits
  readonly #started = performance.now()
  readonly #news = new EventEmitter().setMaxListeners(0)
  readonly #first = once(this.#news, 'changed')
  #state = NOTHING
  /** A result was given while the index was incomplete, so its completion is announced. */
  #shownEarly = false

  constructor(limits: IndexLimits) {
    this.#limits = limits
  }

  /** Says whether what was shown of it before is a whole now. */
  update(state: DocumentIndexState): boolean {
    const whole = state.looked && !this.#state.looked && this.#shownEarly
    this.#state = state
    this.#news.emit('changed')
    if (state.settled) this.#news.emit('settled')
    return whole
  }

  get served(): readonly ServedCollection[] {
    return this.#state.served
  }

  /**
   * Whether the index is complete, or is not being built; false if building takes longer than `patienceMs`. The time that
   * earlier callers waited counts too, so that a program that asks often is not delayed each time.
   */
  async settled(patienceMs: number): Promise<boolean> {
    await this.#first
    const left = this.#started + patienceMs - performance.now()
    if (!this.#state.settled && left > 0) await this.#settledWithin(left)
    this.#shownEarly ||= !this.#state.settled
    return this.#state.settled
  }

  async #settledWithin(milliseconds: number): Promise<void> {
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(), milliseconds)
    // Too late is an answer too.
    await once(this.#news, 'settled', late).catch(() => undefined)
    clearTimeout(timer)
  }

  /** The notice about incomplete results in these collections, if there is one. */
  noticeFor(names: readonly string[], complete: boolean): string | undefined {
    const { served, truncated, looked, documents } = this.#state
    const gone = served.filter(({ name, present }) => names.includes(name) && !present)
    const { files, bytes } = this.#limits
    const notices = [
      ...this.#progress(complete),
      ...(gone.length > 0 ? [`Not searched, because it is gone: ${gone.map(({ name }) => name).join(', ')}.`] : []),
      ...(truncated
        ? [`Only the first ${documents} documents were indexed (limits: ${files} files, ${bytes} bytes).`]
        : []),
      ...(looked && documents === 0 && gone.length === 0 ? [NO_DOCUMENTS] : []),
    ]
    return notices.length === 0 ? undefined : notices.join(' ')
  }

  #progress(complete: boolean): readonly string[] {
    if (this.#state.looked) return []
    if (complete) return ['The documents are still being looked through; this is how they were the last time.']
    const read = formatCount(this.#state.documents)
    return [`The documents are being read for the first time; ${read} of them are searched so far.`]
  }
}
