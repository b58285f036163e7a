/** The running calls of one registry, so that it can wait for them or cancel them without closing its servers. */
import { fail, isParleyError } from '../../../errors/parley-error.ts'
import type { ToolCallOptions } from '../../../ports/tools.ts'

type Work<Result> = (options: ToolCallOptions) => Promise<Result>

const ENDED = 'its session is closing'

export class InFlightCalls {
  readonly #open = new Map<AbortController, Promise<unknown>>()
  #isTaking = true

  /** Runs a call with a signal of its own. Throws TOOL_NOT_RUN after `finish` or `end`. */
  async run<Result>(name: string, options: ToolCallOptions, work: Work<Result>): Promise<Result> {
    if (!this.#isTaking) fail('TOOL_NOT_RUN', { tool: name, reason: ENDED })
    const own = new AbortController()
    const running = this.#bounded(own, options, work)
    this.#open.set(own, running)
    try {
      return await running
    } catch (error) {
      // The caller did not cancel it: the call was cut off, and may have run.
      const isCut = isParleyError(error, 'TOOL_CANCELLED') && !options.signal.aborted
      if (isCut) fail('TOOL_LOST', { tool: name, reason: ENDED }, error)
      throw error
    }
  }

  /** Accepts no more calls and resolves when the running ones have ended. */
  async finish(): Promise<void> {
    this.#isTaking = false
    await Promise.allSettled(this.#open.values())
  }

  /** Accepts no more calls and cancels the running ones. */
  end(): void {
    this.#isTaking = false
    for (const own of this.#open.keys()) own.abort(ENDED)
  }

  async #bounded<Result>(own: AbortController, options: ToolCallOptions, work: Work<Result>): Promise<Result> {
    const cancel = (): void => own.abort('cancelled')
    options.signal.addEventListener('abort', cancel, { once: true })
    if (options.signal.aborted) cancel()
    try {
      return await work({ ...options, signal: own.signal })
    } finally {
      options.signal.removeEventListener('abort', cancel)
      this.#open.delete(own)
    }
  }
}
