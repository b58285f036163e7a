/** Repairs what a failing disk leaves behind: a log that must be read again, or an open turn that no agent runs. */
import type { Command } from '../domain/commands.ts'
import type { SessionPorts } from '../session-ports.ts'
import { RETRY_MS, type SessionLog } from './session-log.ts'

/** Decides nothing; a log that is dirty reads the journal before it takes this. */
const NOTHING: Command = { kind: 'reject_unknown_prompts', promptIds: [] }

export class LogRecovery {
  readonly #ports: Pick<SessionPorts, 'clock' | 'report'>
  readonly #log: SessionLog
  readonly #endWithoutAgent: () => Command | undefined
  #isRunning = false

  /** `endWithoutAgent` gives the end of a turn that is open although no agent runs it; undefined when there is none. */
  constructor(
    ports: Pick<SessionPorts, 'clock' | 'report'>,
    log: SessionLog,
    endWithoutAgent: () => Command | undefined,
  ) {
    this.#ports = ports
    this.#log = log
    this.#endWithoutAgent = endWithoutAgent
  }

  /** Retries in the background until the log is sound and every open turn has an agent, or the log is closed. */
  begin(): void {
    if (this.#isRunning) return
    this.#isRunning = true
    void this.#repair()
  }

  async #repair(): Promise<void> {
    const log = this.#log
    while (!log.closed.aborted && (log.isDirty || this.#endWithoutAgent() !== undefined)) {
      try {
        await log.dispatch(this.#endWithoutAgent() ?? NOTHING)
      } catch (error) {
        this.#ports.report(error)
        await this.#ports.clock.sleep(RETRY_MS)
      }
    }
    // Cleared synchronously after the last check, so that no call of `begin` is lost.
    this.#isRunning = false
  }
}
