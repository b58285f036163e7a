/** The part that all journals share: it checks appended entries, and lets readers follow a session. */
import { fail } from '../../errors/parley-error.ts'
import type {
  Append,
  Cursor,
  Journal,
  ListQuery,
  PageLimits,
  SessionChange,
  SessionId,
  SessionSummary,
  StoredEntry,
} from '../../ports/journal.ts'
import type { Signal } from '../../ports/values/signal.ts'

/** Refuses entries whose numbers do not follow each other: they would be a gap in the journal. */
export function checkAppend({ row, entries, expected }: Append): void {
  let seq = expected
  for (const entry of entries) {
    seq += 1
    if (entry.seq !== seq) failAppend(row.id, `entry ${entry.seq} stands where ${seq} belongs`)
  }
  if (row.lastSeq !== seq) failAppend(row.id, `the row says ${row.lastSeq} and the last entry is ${seq}`)
}

function failAppend(session: string, reason: string): never {
  return fail('INTERNAL_ERROR', {}, new Error(`append to session ${session}: ${reason}`))
}

/** Whether a list with these filters has the row; where the page before ended is not looked at. */
export function isListed(
  { cwd, phase, agent, title }: SessionSummary,
  { cwd: exactly, phases, agent: wanted, cwdPrefix, text }: ListQuery,
): boolean {
  if (exactly !== undefined && cwd !== exactly) return false
  if (phases !== undefined && !phases.includes(phase)) return false
  if (wanted !== undefined && agent !== wanted) return false
  if (cwdPrefix !== undefined && !isBelow(cwd, cwdPrefix)) return false
  return text === undefined || [title ?? '', cwd].some((one) => one.toLowerCase().includes(text.toLowerCase()))
}

function isBelow(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith('/') ? directory : `${directory}/`)
}

/** The most that one step of `read` yields. */
const readLimits: PageLimits = { entries: 1000, chars: 256 * 1024 }

/** One reader's view of one session: whether there may be more, and whether there will never be. */
class Watch {
  #deleted = false
  #stale = true
  #wake: () => void = () => {}

  get deleted(): boolean {
    return this.#deleted
  }

  /** Called before a page is read: only later appends count as new. */
  begin(): void {
    this.#stale = false
  }

  news(): void {
    this.#stale = true
    this.#wake()
  }

  end(): void {
    this.#deleted = true
    this.news()
  }

  async wait(signal: Signal): Promise<void> {
    if (this.#stale || signal.aborted) return
    await new Promise<void>((resolve) => {
      this.#wake = resolve
      signal.addEventListener('abort', resolve, { once: true })
    }).finally(() => signal.removeEventListener('abort', this.#wake))
  }
}

/** Who follows which session, and who follows the list of them. The adapter says what happened; followers ask for the page themselves. */
export class TailSubscribers {
  readonly #watches = new Map<SessionId, Set<Watch>>()
  readonly #ofList = new Set<(change: SessionChange) => void>()

  add(id: SessionId): Watch {
    const watch = new Watch()
    const others = this.#watches.get(id)
    if (others === undefined) this.#watches.set(id, new Set([watch]))
    else others.add(watch)
    return watch
  }

  remove(id: SessionId, watch: Watch): void {
    const others = this.#watches.get(id)
    if (others?.delete(watch) === true && others.size === 0) this.#watches.delete(id)
  }

  /** Called only after the entries are durable: no reader may see what a power cut could take back. */
  appended(row: SessionSummary): void {
    for (const watch of this.#watches.get(row.id) ?? []) watch.news()
    for (const listener of this.#ofList) listener({ kind: 'changed', row })
  }

  deleted(id: SessionId): void {
    for (const watch of this.#watches.get(id) ?? []) watch.end()
    for (const listener of this.#ofList) listener({ kind: 'removed', id })
  }

  /** `Journal.watch`. */
  watchList(listener: (change: SessionChange) => void): () => void {
    this.#ofList.add(listener)
    return () => this.#ofList.delete(listener)
  }

  /** Wakes every follower, which then sees that the journal is closed or broken. */
  wakeAll(): void {
    for (const watches of this.#watches.values()) for (const watch of watches) watch.news()
  }
}

export interface Following {
  readonly id: SessionId
  readonly from: Cursor
  readonly signal: Signal
}

/** Yields pages until there are none, then waits; ends when the signal aborts or the session is deleted. */
export async function* follow(
  page: Journal['page'],
  watches: TailSubscribers,
  { id, from, signal }: Following,
): AsyncGenerator<readonly StoredEntry[], void, undefined> {
  const watch = watches.add(id)
  try {
    let cursor = from
    while (!signal.aborted && !watch.deleted) {
      watch.begin()
      const entries = await page(id, cursor, readLimits)
      // A session of the same id may have been created again while the page was read. Its entries are not this reader's.
      if (signal.aborted || watch.deleted) return
      const last = entries.at(-1)
      if (last === undefined) await watch.wait(signal)
      else {
        cursor = last.seq
        yield entries
      }
    }
  } finally {
    watches.remove(id, watch)
  }
}
