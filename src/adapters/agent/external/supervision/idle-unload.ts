/** Ends the process of an agent that has nothing to do: after some time, or at once if it takes more memory than it may. */
import type { AgentSession } from '../../../../ports/agent.ts'
import type { Timer } from '../../../../ports/clock.ts'
import type { AgentProcess } from '../process/agent-process.ts'
import type { LiveAgent } from './live-agents.ts'
import type { ExternalParts } from './parts.ts'

export const MEGABYTE = 1_000_000

export class IdleUnload {
  readonly #agent: LiveAgent
  readonly #session: Pick<AgentSession, 'notice'>
  readonly #parts: ExternalParts
  #timer: Timer | undefined
  #since: number | undefined
  #isLargeTold = false

  constructor(agent: LiveAgent, session: Pick<AgentSession, 'notice'>, parts: ExternalParts) {
    this.#agent = agent
    this.#session = session
    this.#parts = parts
  }

  /** When the agent last had something to do, on the monotonic clock; undefined if it never had. */
  get since(): number | undefined {
    return this.#since
  }

  /** The agent has something to do, or no process any more. */
  cancel(): void {
    this.#timer?.cancel()
  }

  /** The agent has nothing more to do; `process` is the one that it has. */
  begin(process: AgentProcess | undefined): void {
    const { clock, live, report } = this.#parts
    this.cancel()
    this.#since = clock.monotonicNow()
    live.changed()
    if (process === undefined) return
    this.#timer = clock.setTimer(process.launch.idleMinutes * 60_000, () => {
      if (this.#agent.idleSince === undefined) this.begin(process)
      else void this.#agent.unload().catch(report)
    })
    void this.#limitMemory(process).catch(report)
  }

  /** Between two turns, never in one. */
  async #limitMemory(process: AgentProcess): Promise<void> {
    const { name, maxMemoryMb: limit } = process.launch
    if (limit === undefined) return
    const used = ((await process.usage())?.residentBytes ?? 0) / MEGABYTE
    if (used <= limit || this.#agent.idleSince === undefined) return
    await this.#agent.unload()
    if (this.#isLargeTold) return
    this.#isLargeTold = true
    await this.#session.notice(
      `${name} used ${Math.round(used)} MB, more than its max_memory_mb of ${limit}, and was ended. It starts again with the next prompt.`,
    )
  }
}
