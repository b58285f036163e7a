/** The part that all journals share: it checks appended entries, packs them into rows, and lets readers follow a session. */
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

/**
 * A row of the table `entries`: the entries from `seq - count + 1` to `seq`. Several share one row: most are small parts of one
 * message and differ only in a word, so what all their bodies begin and end with is written once. That takes a fraction of the
 * space and time.
 */
export interface EntryRow {
  readonly seq: number
  /** When its first entry was stored. */
  readonly at: number
  readonly count: number
  /** The body itself if `count` is 1; else lines: the beginning, the end, the times, then the middle of each body. */
  readonly body: string
}

export interface Entries {
  readonly at: readonly number[]
  readonly bodies: readonly string[]
}

/** Bytes that each entry takes besides its middle: a newline, and the step of a time that is its own. */
const SEPARATOR = 1
const STEP = 5
/** Bodies that have less than this in common are not of one kind. */
const LEAST_SHARED = 8

/** Rows of at most `most` bytes for `entries`, the first of which is number `first`. */
export function packEntries(first: number, { at, bodies }: Entries, most: number): readonly EntryRow[] {
  const rows: EntryRow[] = []
  for (let start = 0; start < bodies.length;) {
    const { end, shared } = groupFrom({ at, bodies }, start, most)
    const group = bodies.slice(start, end)
    const times = at.slice(start, end)
    const body = group.length === 1 ? (group[0] ?? '') : written(group, shared, times)
    rows.push({ seq: first + end - 1, at: times[0] ?? 0, count: group.length, body })
    start = end
  }
  return rows
}

/** The entries of a row again. */
export function unpackEntries({ at, count, body }: EntryRow): Entries {
  if (count === 1) return { at: [at], bodies: [body] }
  const [beginning = '', ending = '', steps = '', ...middles] = body.split('\n')
  const bodies = middles.map((middle) => beginning + middle + ending)
  return { at: timesFrom(at, steps, count), bodies }
}

/** How far bodies belong together, and how much they all begin with. */
function groupFrom(
  { at, bodies }: Entries,
  start: number,
  most: number,
): { readonly end: number; readonly shared: number } {
  const head = bodies[start] ?? ''
  let shared = head.length
  let beginning: string | undefined
  let bytes = Buffer.byteLength(head)
  let end = start + 1
  if (head.includes('\n')) return { end, shared }
  for (; end < bodies.length; end += 1) {
    const body = bodies[end] ?? ''
    // Nearly always it is what the one before began with.
    const isSame = beginning !== undefined && body.startsWith(beginning)
    const common = isSame ? shared : sharedBeginning(head, body, shared)
    bytes += Buffer.byteLength(body) + (at[end] === at[end - 1] ? SEPARATOR : SEPARATOR + STEP)
    const repeated = (end - start) * common
    if (common < LEAST_SHARED || bytes - repeated > most || body.includes('\n')) break
    if (!isSame) beginning = head.slice(0, common)
    shared = common
  }
  return { end, shared }
}

/** Up to and including a quotation mark, so that a text of the body is never cut in two. */
function sharedBeginning(left: string, right: string, limit: number): number {
  const most = Math.min(left.length, right.length, limit)
  let length = 0
  while (length < most && left.charCodeAt(length) === right.charCodeAt(length)) length += 1
  return left.lastIndexOf('"', length - 1) + 1
}

function written(group: readonly string[], shared: number, times: readonly number[]): string {
  const beginning = (group[0] ?? '').slice(0, shared)
  const rests = group.map((body) => body.slice(shared))
  const ending = sharedEnding(rests)
  const middles = rests.map((rest) => rest.slice(0, rest.length - ending.length))
  return [beginning, ending, stepsOf(times), ...middles].join('\n')
}

/** From a quotation mark on, for the same reason. */
function sharedEnding(rests: readonly string[]): string {
  const head = rests[0] ?? ''
  let length = head.length
  for (const rest of rests) {
    if (rest.endsWith(head.slice(head.length - length))) continue
    let common = 0
    while (common < length && rest.charCodeAt(rest.length - 1 - common) === head.charCodeAt(head.length - 1 - common))
      common += 1
    length = common
  }
  const quote = head.indexOf('"', head.length - length)
  return quote === -1 ? '' : head.slice(quote)
}

/** Empty when all were stored at once, as most are. */
function stepsOf(times: readonly number[]): string {
  const steps = times.map((time, index) => time - (times[index - 1] ?? times[0] ?? 0))
  return steps.every((step) => step === 0) ? '' : steps.join(',')
}

function timesFrom(at: number, steps: string, count: number): readonly number[] {
  if (steps === '') return Array.from({ length: count }, () => at)
  let time = at
  return steps.split(',').map((step) => (time += Number(step)))
}
