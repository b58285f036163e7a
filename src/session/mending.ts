/** What a disk that failed for a while has left behind: a turn that is stored and that nobody runs, or a writer that is unsure. */
import type { Command } from './commands.ts'
import type { World } from './world.ts'

/** Between two attempts at what the disk did not let us read or end. Milliseconds. */
export const RETRY = 1_000
/** Makes nothing true; a writer that is unsure reads the journal for it. */
const NOTHING: Command = { kind: 'disown', promptIds: [] }

export interface MendingHost {
  readonly world: Pick<World, 'clock' | 'report'>
  readonly isGone: () => boolean
  /** The writer could not even read what is stored. */
  readonly isUnsure: () => boolean
  /** A turn is open and no agent runs it: it was stored although its writer was told that it was not. */
  readonly isNobodys: () => boolean
  readonly dispatch: (command: Command) => Promise<unknown>
}

export class Mending {
  readonly #host: MendingHost
  #isAtWork = false

  constructor(host: MendingHost) {
    this.#host = host
  }

  /** Tries in the background until all is well. */
  begin(): void {
    if (this.#isAtWork) return
    this.#isAtWork = true
    const { report } = this.#host.world
    this.#mend()
      .catch(report)
      .finally(() => (this.#isAtWork = false))
  }

  async #mend(): Promise<void> {
    const { world, isGone, isUnsure, isNobodys, dispatch } = this.#host
    while (!isGone() && (isUnsure() || isNobodys())) {
      try {
        await dispatch(isNobodys() ? { kind: 'halt' } : NOTHING)
      } catch (error) {
        world.report(error)
        await world.clock.sleep(RETRY)
      }
    }
  }
}
