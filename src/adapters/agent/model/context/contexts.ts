/** The contexts of the sessions that were at work last, so that a turn need not read what it has just said from the journal. */
import type { Turn } from '../../../../ports/agent.ts'
import { Context } from './context.ts'
import { isContextEvent } from './context-event.ts'

/** Characters of all contexts together. */
const ROOM = 48 * 1024 * 1024

export class Contexts {
  /** The one used last stands last. */
  readonly #kept = new Map<string, Context>()
  readonly #room: number

  constructor(room = ROOM) {
    this.#room = room
  }

  /** As it is now: only what was kept since it was last here is read. */
  async of(turn: Turn): Promise<Context> {
    const context = this.#kept.get(turn.sessionId) ?? new Context()
    for await (const { place, memo } of turn.readCheckpoints(context.place))
      if (isContextEvent(memo)) context.take(place, memo)
    this.#keep(turn.sessionId, context)
    return context
  }

  /** What the journal tells is read anew. */
  forget(session: string): void {
    this.#kept.delete(session)
  }

  #keep(session: string, context: Context): void {
    this.#kept.delete(session)
    this.#kept.set(session, context)
    let size = [...this.#kept.values()].reduce((sum, one) => sum + one.size, 0)
    for (const [id, one] of this.#kept) {
      if (size <= this.#room) return
      this.#kept.delete(id)
      size -= one.size
    }
  }
}
