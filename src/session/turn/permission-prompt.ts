/** The permission requests of a running turn: each stored before a client sees it, and answered by a client. */
import { SerialQueue } from '../../async/serial.ts'
import type { Question } from '../../ports/agent.ts'
import type { PermissionOutcome } from '../../ports/values/content.ts'
import type { GrantSubject } from '../../ports/rules.ts'
import type { SessionLog } from '../log/session-log.ts'
import type { SessionPorts } from '../session-ports.ts'

export class PermissionPrompts {
  readonly #ports: Pick<SessionPorts, 'clock' | 'faults'>
  readonly #log: SessionLog
  readonly #turnId: string
  /** By their ids. Those of Parley's own tool calls are asked one after the other. */
  readonly #open = new Map<string, (outcome: PermissionOutcome) => void>()
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
  async ask(
    { toolCallId, patch, options, state, survives }: Question,
    grant?: GrantSubject,
  ): Promise<PermissionOutcome> {
    const { clock, faults } = this.#ports
    const requestId = clock.id()
    const answer = new Promise<PermissionOutcome>((resolve) => void this.#open.set(requestId, resolve))
    const lives = survives === undefined ? {} : { survives }
    const ask = { toolCallId, patch, options, resume: state, ...(grant && { grant }), ...lives }
    try {
      const entries = await this.#log.dispatch({ kind: 'ask', turnId: this.#turnId, requestId, ask })
      if (entries.length === 0) return { outcome: 'cancelled' }
      await faults.at('permission.asked')
      const outcome = await answer
      await faults.at('permission.answered')
      return outcome
    } finally {
      this.#open.delete(requestId)
    }
  }

  answered(requestId: string, outcome: PermissionOutcome): void {
    this.#open.get(requestId)?.(outcome)
  }

  /** The turn can no longer be stored, so no answer can come. */
  drop(): void {
    for (const resolve of this.#open.values()) resolve({ outcome: 'cancelled' })
  }
}
