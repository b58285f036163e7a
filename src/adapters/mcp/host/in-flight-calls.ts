/** The calls of one registry that are under way, so that it can wait for them or end them without ending its servers. */
import { fail, isParleyError } from '../../../errors/parley-error.ts'
import type { ToolCallOptions } from '../../../ports/tools.ts'

interface InFlightCalls {
  /** Runs a call with a signal of its own; throws TOOL_NOT_RUN when no more calls are taken. */
  run<Result>(name: string, options: ToolCallOptions, work: Work<Result>): Promise<Result>
  /** Takes no more calls and resolves when those under way have ended. */
  finish(): Promise<void>
  /** Takes no more calls and ends those under way: their answers are lost. */
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
        // Nobody asked to cancel it: it was cut off, whether or not it ran.
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
