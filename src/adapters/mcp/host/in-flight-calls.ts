/** The running calls of one registry, so that it can wait for them or cancel them without closing its servers. */
import { fail, isParleyError } from '../../../errors/parley-error.ts'
import type { ToolCallOptions } from '../../../ports/tools.ts'

interface InFlightCalls {
  /** Runs a call with a signal of its own. Throws TOOL_NOT_RUN after `finish` or `end`. */
  run<Result>(name: string, options: ToolCallOptions, work: Work<Result>): Promise<Result>
  /** Accepts no more calls and resolves when the running ones have ended. */
  finish(): Promise<void>
  /** Accepts no more calls and cancels the running ones. */
  end(): void
}

type Work<Result> = (options: ToolCallOptions) => Promise<Result>

const ENDED = 'its session is closing'

export function openInFlightCalls(): InFlightCalls {
  const open = new Map<AbortController, Promise<unknown>>()
  let taking = true

  async function bounded<Result>(own: AbortController, options: ToolCallOptions, work: Work<Result>): Promise<Result> {
    const cancel = (): void => own.abort('cancelled')
    options.signal.addEventListener('abort', cancel, { once: true })
    if (options.signal.aborted) cancel()
    try {
      return await work({ ...options, signal: own.signal })
    } finally {
      options.signal.removeEventListener('abort', cancel)
      open.delete(own)
    }
  }

  return {
    async run(name, options, work) {
      if (!taking) fail('TOOL_NOT_RUN', { tool: name, reason: ENDED })
      const own = new AbortController()
      const running = bounded(own, options, work)
      open.set(own, running)
      try {
        return await running
      } catch (error) {
        // The caller did not cancel it: the call was cut off, and may have run.
        const cut = isParleyError(error, 'TOOL_CANCELLED') && !options.signal.aborted
        if (cut) fail('TOOL_LOST', { tool: name, reason: ENDED }, error)
        throw error
      }
    },
    async finish() {
      taking = false
      await Promise.allSettled(open.values())
    },
    end() {
      taking = false
      for (const own of open.keys()) own.abort(ENDED)
    },
  }
}
