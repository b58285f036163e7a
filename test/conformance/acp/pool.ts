/** Agents that have been started and introduced to, and wait for the next case of the same kind: most need no fresh process. */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Fields } from '../../e2e/message.ts'
import { type Case, isTagged } from './case.ts'
import type { Ends } from './line-connection.ts'
import type { Place } from './transport.ts'

/** Where an agent sits, and the agent, if one is there already. */
export interface Seat {
  readonly place: Place
  readonly waiting?: { readonly ends: Ends; readonly offer: Fields; readonly rest: string }
}

/** So many wait at once. */
const SEATS = 4

export class Pool {
  #seats: (readonly [string, Seat])[] = []

  take(one: Case): Seat {
    const key = kindOf(one)
    const at = this.#seats.findIndex(([known]) => known === key)
    const [found] = at === -1 || !canShare(one) ? [] : this.#seats.splice(at, 1)
    return found?.[1] ?? freshSeat(one.env)
  }

  /** Keeps it for the next case if it can be of use, and ends it otherwise. */
  async give(one: Case, seat: Seat): Promise<void> {
    if (!canShare(one) || seat.waiting === undefined) return end(seat)
    this.#seats.push([kindOf(one), seat])
    const [oldest] = this.#seats.length > SEATS ? this.#seats.splice(0, 1) : []
    if (oldest !== undefined) await end(oldest[1])
  }

  async close(): Promise<void> {
    const seats = this.#seats
    this.#seats = []
    await Promise.all(seats.map(([, seat]) => end(seat)))
  }
}

function freshSeat(env: Place['env'] = {}): Seat {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'conformance-seat-')))
  return { place: { directory, script: join(directory, 'script.jsonl'), env } }
}

async function end({ place, waiting }: Seat): Promise<void> {
  await waiting?.ends.end()
  rmSync(place.directory, { recursive: true, force: true, maxRetries: 5 })
}

/** What says everything itself, or needs settings, needs a process of its own; what has company would leave it behind. */
function canShare(one: Case): boolean {
  return one.env === undefined && !isTagged(one, 'raw') && !isTagged(one, 'company')
}

/** Cases of one kind after each other, since one agent can serve them all. */
export function byKind<Some extends Case>(cases: readonly Some[]): readonly Some[] {
  return cases.toSorted((a, b) => Number(kindOf(a) > kindOf(b)) - Number(kindOf(a) < kindOf(b)))
}

/** What was said in the introduction, by either side; empty for a case that needs a process of its own. */
function kindOf(one: Case): string {
  if (!canShare(one)) return ''
  return JSON.stringify([one.client ?? {}, one.script?.[0]?.['agent'] ?? {}])
}
