/** Which node owns each session: the epoch and the boot id in the session's row, and the nodes that live. */
import { ParleyError, fail } from '../../../../errors/parley-error.ts'
import type { SessionId } from '../../../../ports/journal.ts'
import type { SessionOwnership } from '../../../../ports/ownership.ts'
import type { PostgresJournal } from '../postgres-journal.ts'
import type { LostEnd } from '../shard.ts'
import type { Node } from './heartbeat.ts'
import type { PostgresOwnership } from './postgres-ownership.ts'

/** `absent`: there is no such session. `free`: any node may claim it. */
export type Whereabouts =
  | { readonly kind: 'ours' | 'free' | 'absent' }
  | { readonly kind: 'elsewhere'; readonly node: Node }

export interface SessionClaimsOptions {
  readonly nodes: Pick<PostgresOwnership, 'boot' | 'certainMs' | 'living'>
  readonly takes: SessionOwnership['takes']
}

export class SessionClaims implements SessionOwnership {
  readonly takes: SessionOwnership['takes']
  readonly #journal: PostgresJournal
  readonly #nodes: Pick<PostgresOwnership, 'boot' | 'certainMs' | 'living'>
  readonly #orphaned = new Set<() => void>()
  readonly #wentBack = new Set<(id: SessionId, error: unknown) => Promise<void>>()
  readonly #renewed = new Set<(ms: number) => void>()
  readonly #lost = new Set<(id: SessionId) => void>()

  constructor(journal: PostgresJournal, { nodes, takes }: SessionClaimsOptions) {
    this.#journal = journal
    this.#nodes = nodes
    this.takes = takes
  }

  async locate(id: SessionId): Promise<Whereabouts> {
    if (this.#journal.holds(id)) return { kind: 'ours' }
    return (await this.#stored(id)).where
  }

  async claim(id: SessionId): Promise<void> {
    while (!this.#journal.holds(id)) {
      const { where, epoch } = await this.#stored(id)
      if (where.kind === 'absent') return
      if (where.kind === 'elsewhere') fail('SESSION_ELSEWHERE', { session: id, node: where.node.name })
      await this.#journal.claim(id, epoch)
    }
  }

  whenOrphaned(listener: () => void): void {
    this.#orphaned.add(listener)
  }

  /** Another node has died. */
  orphaned(): void {
    for (const listener of this.#orphaned) listener()
  }

  whenWentBack(listener: (id: SessionId, error: unknown) => Promise<void>): void {
    this.#wentBack.add(listener)
  }

  /** The database has lost what it had acknowledged. */
  async wentBack({ session, had, found }: LostEnd): Promise<void> {
    const error = new ParleyError('JOURNAL_WENT_BACK', { session, had, found })
    for (const listener of this.#wentBack) await listener(session, error)
  }

  whenRenewed(listener: (ms: number) => void): void {
    this.#renewed.add(listener)
    // Otherwise what depends on it would go on for ever if the database went away before the next renewal.
    listener(this.#nodes.certainMs)
  }

  /** No other node counts this one out for so long. */
  renewed(ms: number): void {
    for (const listener of this.#renewed) listener(ms)
  }

  /** Calls `listener` when another node has claimed a session of this one, before any refusal of it can be seen. */
  whenLost(listener: (id: SessionId) => void): void {
    this.#lost.add(listener)
  }

  /** An append has found another owner. */
  lost(id: SessionId): void {
    for (const listener of this.#lost) listener(id)
  }

  async #stored(id: SessionId): Promise<{ readonly where: Whereabouts; readonly epoch: number }> {
    const owner = await this.#journal.owner(id)
    if (owner === undefined) return { where: { kind: 'absent' }, epoch: 0 }
    const { boot, epoch } = owner
    if (boot === undefined) return { where: { kind: 'free' }, epoch }
    if (boot === this.#nodes.boot) return { where: { kind: 'ours' }, epoch }
    const node = await this.#nodes.living(boot)
    return { where: node === undefined ? { kind: 'free' } : { kind: 'elsewhere', node }, epoch }
  }
}
