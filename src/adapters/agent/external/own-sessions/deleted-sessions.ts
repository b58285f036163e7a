/**
 * The conversations of sessions that the user has deleted: the agent is asked to delete its own copies, and they do not come back
 * by an import.
 */
import type { DeletedConversation } from '../../../../ports/agent.ts'
import { type OwnSessionsParts, withOwnSessions } from './own-sessions.ts'
import type { TakenSessions } from './taken-sessions.ts'

export interface DeletedSessionsParts extends OwnSessionsParts {
  readonly taken: TakenSessions
  readonly report: (error: unknown) => void
}

export class DeletedSessions {
  readonly #parts: DeletedSessionsParts
  /** Of each agent, by its full name: what it has not been asked to delete yet. */
  readonly #waiting = new Map<string, DeletedConversation[]>()
  readonly #running = new Set<string>()

  constructor(parts: DeletedSessionsParts) {
    this.#parts = parts
  }

  /** Never throws. */
  forget(conversations: readonly DeletedConversation[]): void {
    const { taken, report } = this.#parts
    for (const one of conversations) {
      const { agent, agentSessionId, sessionId } = one
      try {
        taken.add(agent.slice('acp:'.length), [agentSessionId], sessionId)
      } catch (error) {
        report(error)
      }
      // What was imported is the user's own, made with another tool.
      if (one.isImported || !one.caps.includes('delete')) continue
      this.#waiting.set(agent, [...(this.#waiting.get(agent) ?? []), one])
      void this.#ask(agent)
    }
  }

  /** One process at a time, for all that wait. */
  async #ask(agent: string): Promise<void> {
    if (this.#running.has(agent)) return
    this.#running.add(agent)
    try {
      for (let some = this.#take(agent); some.length > 0; some = this.#take(agent)) {
        const directory = some[0]?.cwd ?? '/'
        await withOwnSessions({ agent, directory }, this.#parts, async (own) => {
          for (const { agentSessionId } of some) await own.delete(agentSessionId).catch(this.#parts.report)
        })
      }
    } catch (error) {
      // The agent is not there any more, or wants a login: its copies stay.
      this.#parts.report(error)
    } finally {
      this.#running.delete(agent)
    }
  }

  #take(agent: string): readonly DeletedConversation[] {
    const some = this.#waiting.get(agent) ?? []
    this.#waiting.delete(agent)
    return some
  }
}
