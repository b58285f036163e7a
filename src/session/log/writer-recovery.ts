/** What a disk that failed for a while has left behind: a turn that is stored and that nobody runs, or a writer that is unsure. */
import type { Command } from '../domain/commands.ts'
import type { SessionPorts } from '../session-ports.ts'

/** Between two attempts at what the disk did not let us read or end. Milliseconds. */
export const RETRY_MS = 1_000
/** Makes nothing true; a writer that is unsure reads the journal for it. */
const NOTHING: Command = { kind: 'reject_unknown_prompts', promptIds: [] }

export interface WriterRecoveryHost {
  readonly world: Pick<SessionPorts, 'clock' | 'report'>
  readonly isGone: () => boolean
  /** The writer could not even read what is stored. */
  readonly isUnsure: () => boolean
  /** The end of a turn that is open although no agent runs it; undefined when there is none. */
  readonly endWithoutAgent: () => Command | undefined
  readonly dispatch: (command: Command) => Promise<unknown>
}

export class WriterRecovery {
  readonly #host: WriterRecoveryHost
  #isAtWork = false

  constructor(host: WriterRecoveryHost) {
    this.#host = host
  }

  /** Tries in the background until all is well. */
  begin(): void {
    if (this.#isAtWork) return
    this.#isAtWork = true
    void this.#mend()
  }

  async #mend(): Promise<void> {
    const { world, isGone, isUnsure, endWithoutAgent, dispatch } = this.#host
    while (!isGone() && (isUnsure() || endWithoutAgent() !== undefined)) {
      try {
        await dispatch(endWithoutAgent() ?? NOTHING)
      } catch (error) {
        world.report(error)
        await world.clock.sleep(RETRY_MS)
      }
    }
    // In the same breath as the last look, so that no call of `begin` is lost.
    this.#isAtWork = false
  }
}
