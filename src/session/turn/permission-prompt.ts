/** The questions of a running turn: one at a time, each stored before it is asked, and answered from outside. */
import { SerialQueue } from '../../async/serial.ts'
import type { Question } from '../../ports/agent.ts'
import type { Clock } from '../../ports/clock.ts'
import type { PermissionOutcome } from '../../ports/content.ts'
import type { Faults } from '../../ports/fault.ts'
import type { GrantSubject } from '../../ports/rules.ts'
import type { Command } from '../domain/commands.ts'
import type { Entry } from '../domain/entries.ts'

export interface PermissionPromptsHost {
  readonly turnId: string
  readonly clock: Pick<Clock, 'id'>
  readonly faults: Faults
  readonly dispatch: (command: Command) => Promise<readonly Entry[]>
}

interface Open {
  readonly requestId: string
  readonly resolve: (outcome: PermissionOutcome) => void
}

export class PermissionPrompts {
  readonly #host: PermissionPromptsHost
  #open: Open | undefined
  readonly #queue = new SerialQueue()

  constructor(host: PermissionPromptsHost) {
    this.#host = host
  }

  /** One question at a time: the next one is asked when this one was answered. */
  inLine<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#queue.run(work)
  }

  /** Resolves `cancelled` when nothing is asked in this turn any more. */
  async ask({ toolCallId, patch, options, state }: Question, grant?: GrantSubject): Promise<PermissionOutcome> {
    const { turnId, clock, faults, dispatch } = this.#host
    const requestId = clock.id()
    const answer = new Promise<PermissionOutcome>((resolve) => {
      this.#open = { requestId, resolve }
    })
    const ask = { toolCallId, patch, options, resume: state, ...(grant && { grant }) }
    const entries = await dispatch({ kind: 'ask', turnId, requestId, ask })
    if (entries.length === 0) return { outcome: 'cancelled' }
    await faults.at('permission.asked')
    const outcome = await answer
    this.#open = undefined
    await faults.at('permission.answered')
    return outcome
  }

  answered(requestId: string, outcome: PermissionOutcome): void {
    if (this.#open?.requestId === requestId) this.#open.resolve(outcome)
  }

  /** No answer can come any more. */
  drop(): void {
    this.#open?.resolve({ outcome: 'cancelled' })
  }
}
