/**
 * How entries become rows of a table, and back. Several entries share one row: most are small parts of one message and differ only in a
 * word, so what all their bodies begin and end with is written once. That takes a fraction of the space and time.
 */

/** A row of the table `entries`: the entries from `seq - count + 1` to `seq`. */
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
  let bytes = Buffer.byteLength(head)
  let end = start + 1
  if (head.includes('\n')) return { end, shared }
  for (; end < bodies.length; end += 1) {
    const body = bodies[end] ?? ''
    const common = sharedBeginning(head, body, shared)
    bytes += Buffer.byteLength(body) + (at[end] === at[end - 1] ? SEPARATOR : SEPARATOR + STEP)
    const repeated = (end - start) * common
    if (common < LEAST_SHARED || bytes - repeated > most || body.includes('\n')) break
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
