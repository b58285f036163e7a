/** A turn that an agent began by itself: it ends when the agent says so, or is silent and has nothing open. */
import type { Clock } from '../../../../ports/clock.ts'
import type { AgentSession, StopReason } from '../../../../ports/agent.ts'
import { fieldsOf } from '../../../../rpc/json-rpc.ts'
import type { AgentConversation } from '../reattach/conversation.ts'
import type { TurnSignal } from '../quirks.ts'
import type { TurnUpdates } from '../updates/turn-updates.ts'

const SILENCE_MS = 3_000
const STEP_MS = 100
/** Prompts wait so long for its end. */
const PROMPTS_WAIT_MS = 60_000

export class OwnTurn {
  readonly updates: TurnUpdates
  #heardAt: number
  #isEnded = false
  /** Permissions without an answer yet. */
  openQuestions = 0
  readonly #clock: Clock

  constructor(updates: TurnUpdates, clock: Clock) {
    this.updates = updates
    this.#clock = clock
    this.#heardAt = clock.monotonicNow()
  }

  /** The agent said something. */
  heard(): void {
    this.#heardAt = this.#clock.monotonicNow()
  }

  /** The agent said that it is done. */
  end(): void {
    this.#isEnded = true
  }

  async play(session: AgentSession, { process, sessionId }: AgentConversation): Promise<StopReason> {
    const clock = this.#clock
    const { turn } = this.updates
    const since = clock.monotonicNow()
    while (!turn.signal.aborted && process.end === undefined && !this.#isOver(session, since)) {
      await clock.sleep(STEP_MS, turn.signal).catch(() => undefined)
    }
    if (turn.signal.aborted) await process.peer.notify('session/cancel', { sessionId })
    return turn.signal.aborted ? 'cancelled' : 'end_turn'
  }

  #isOver(session: AgentSession, since: number): boolean {
    const now = this.#clock.monotonicNow()
    if (this.openQuestions > 0) return false
    if (this.#isEnded || (session.promptsWaiting > 0 && now - since >= PROMPTS_WAIT_MS)) return true
    return now - this.#heardAt >= SILENCE_MS && !this.updates.hasOpenCalls
  }
}

/** Whether this message of the agent says that it has nothing more to do. */
export function endsOwnTurn(update: unknown, signals: readonly TurnSignal[]): boolean {
  const fields = fieldsOf(update)
  const meta = fieldsOf(fields['_meta'])
  return signals.some((signal) => {
    switch (signal) {
      case 'claude_origin':
        return fields['sessionUpdate'] === 'usage_update' && '_claude/origin' in meta
      case 'codex_thread_status':
        return fieldsOf(fieldsOf(meta['codex'])['threadStatus'])['type'] === 'idle' || meta['threadStatus'] === 'idle'
      case 'pi_running':
        return fieldsOf(meta['piAcp'])['running'] === false
    }
  })
}
