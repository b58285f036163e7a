/**
 * Declares nodes dead: a node whose heartbeat did not move while this node renewed its own four times. No clock
 * decides. While the database cannot be reached no node renews, so none is declared dead.
 */

const RENEWALS = 4

export interface SeenNode {
  readonly boot: string
  readonly beat: number
}

export class DeathCount {
  readonly #seen = new Map<string, { readonly beat: number; readonly renewals: number }>()

  /** Call it after each confirmed renewal of this node with the others that live. Answers which nodes it has declared dead. */
  renewed(others: readonly SeenNode[]): readonly SeenNode[] {
    const alive = new Set(others.map(({ boot }) => boot))
    for (const boot of this.#seen.keys()) if (!alive.has(boot)) this.#seen.delete(boot)
    return others.filter(({ boot, beat }) => {
      const before = this.#seen.get(boot)
      const renewals = before?.beat === beat ? before.renewals + 1 : 0
      this.#seen.set(boot, { beat, renewals })
      return renewals >= RENEWALS
    })
  }
}
