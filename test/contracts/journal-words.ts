/** The words that the journal's contract is told in. */
import type {
  Append,
  Journal,
  PageLimits,
  SessionHead,
  SessionId,
  SessionSummary,
  Snapshot,
  StoredEntry,
} from '../../src/ports/journal.ts'

/** A page that holds everything. */
export const wide: PageLimits = { entries: 1_000_000, chars: 1_000_000_000 }

/** `count` entries after `from`; the text depends on the session, so that a mix-up shows. */
export function entriesOf(id: string, from: number, count: number): readonly StoredEntry[] {
  return Array.from({ length: count }, (_, index) => {
    const seq = from + index + 1
    return { seq, at: 1_700_000_000_000 + seq, body: JSON.stringify({ id, seq: String(seq).padStart(6, '0') }) }
  })
}

/** An append of entries so long that hardly any two share a row. */
export function longAppendOf(id: string, expected: number, count: number): Append {
  const append = appendOf(id, expected, count)
  const entries = append.entries.map((entry) => ({ ...entry, body: JSON.stringify(String(entry.seq).repeat(1000)) }))
  return { ...append, entries }
}

export interface AppendDetails {
  readonly count: number
  readonly row?: Partial<SessionSummary>
  readonly snapshot?: Snapshot
}

/** The append of so many entries by a writer that knows `expected` of them. */
export function appendOf(id: string, expected: number, details: number | AppendDetails): Append {
  const { count, row, snapshot }: AppendDetails = typeof details === 'number' ? { count: details } : details
  const append = { row: rowOf(id, expected + count, row), entries: entriesOf(id, expected, count), expected }
  return snapshot === undefined ? append : { ...append, snapshot }
}

function rowOf(id: string, lastSeq: number, changes: Partial<SessionSummary> = {}): SessionSummary {
  return {
    id,
    cwd: '/home/ada/project',
    additionalDirectories: ['/home/ada/notes'],
    agent: 'guide',
    title: null,
    phase: 'idle',
    lastSeq,
    createdAt: 1_700_000_000_000,
    updatedAt: 1_700_000_000_000 + lastSeq,
    ...changes,
  }
}

export function idsOf(rows: readonly SessionSummary[]): string[] {
  return rows.map((row) => row.id)
}

/** All that the journal says of a session. */
export async function everything(
  journal: Pick<Journal, 'head' | 'page'>,
  id: string,
): Promise<{ readonly head: SessionHead | undefined; readonly entries: readonly StoredEntry[] }> {
  return { head: await journal.head(id), entries: await journal.page(id, 0, wide) }
}

export interface Followed {
  /** Resolves when that many entries were seen; rejects when the reader fails first. */
  until(count: number): Promise<void>
  /** All that was seen, once the reader has ended. */
  readonly ended: Promise<readonly StoredEntry[]>
}

/** Reads on its own and keeps what it saw. */
export function followed(pages: AsyncIterable<readonly StoredEntry[]>): Followed {
  const seen: StoredEntry[] = []
  let progress: () => void = () => {}
  async function readAll(): Promise<readonly StoredEntry[]> {
    for await (const page of pages) {
      seen.push(...page)
      progress()
    }
    return seen
  }
  const ended = readAll()
  // Whoever awaits `ended` or `until` hears of a failure; nobody has to.
  ended.catch(() => {})
  return {
    ended,
    async until(count) {
      while (seen.length < count) {
        const more = new Promise<void>((resolve) => {
          progress = resolve
        })
        await Promise.race([more, ended])
      }
    },
  }
}

/** Follows a session from a cursor on; `stop` gives all that came. */
export function following(journal: Journal, id: SessionId, from = 0) {
  const abort = new AbortController()
  const seen = followed(journal.read(id, from, abort.signal))
  return {
    ...seen,
    stop: () => {
      abort.abort()
      return seen.ended
    },
  }
}
