/** The permission requests of a running turn: one at a time, each stored before a client sees it, and answered by a client. */
import { SerialQueue } from '../../async/serial.ts'
import type { Question } from '../../ports/agent.ts'
import type { PermissionOutcome } from '../../ports/values/content.ts'
import type { GrantSubject } from '../../ports/rules.ts'
import type { SessionLog } from '../log/session-log.ts'
import type { SessionPorts } from '../session-ports.ts'

interface Open {
  readonly requestId: string
  readonly resolve: (outcome: PermissionOutcome) => void
}

export class PermissionPrompts {
  readonly #ports: Pick<SessionPorts, 'clock' | 'faults'>
  readonly #log: SessionLog
  readonly #turnId: string
  #open: Open | undefined
  readonly #queue = new SerialQueue()

  constructor(ports: Pick<SessionPorts, 'clock' | 'faults'>, log: SessionLog, turnId: string) {
    this.#ports = ports
    this.#log = log
    this.#turnId = turnId
  }

  /** Runs `work` after the requests before it were answered. */
  inLine<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#queue.run(work)
  }

  /** Resolves `cancelled` if the turn is cancelled or over. */
  async ask({ toolCallId, patch, options, state }: Question, grant?: GrantSubject): Promise<PermissionOutcome> {
    const { clock, faults } = this.#ports
    const requestId = clock.id()
    const answer = new Promise<PermissionOutcome>((resolve) => {
      this.#open = { requestId, resolve }
    })
    const ask = { toolCallId, patch, options, resume: state, ...(grant && { grant }) }
    const entries = await this.#log.dispatch({ kind: 'ask', turnId: this.#turnId, requestId, ask })
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

  /** The turn can no longer be stored, so no answer can come. */
  drop(): void {
    this.#open?.resolve({ outcome: 'cancelled' })
  }
}
