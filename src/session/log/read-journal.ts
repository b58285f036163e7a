/** Reads of a session's journal: the state that it adds up to, and a retry for readers that can wait for a busy disk. */
import { isParleyError } from '../../errors/parley-error.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Cursor, Journal, SessionId } from '../../ports/journal.ts'
import { type Entry, decodeEntry } from '../domain/entries.ts'
import { evolve } from '../domain/evolve.ts'
import { type State, absent, decodeState } from '../domain/state.ts'

/** The pause between two attempts at an append or a read that the disk refused. */
export const RETRY_MS = 1_000
/** Ten seconds with the pauses between them; a client that waits longer should get the error. */
const READ_ATTEMPTS = 11

export const PAGE = { entries: 2_000, chars: 4 * 1024 * 1024 } as const

/** The state after the entry `until`, or after the last one: a snapshot and the entries that follow it. `absent` when there is no such session. */
export async function loadState(
  { journal }: { readonly journal: Pick<Journal, 'head' | 'page'> },
  id: SessionId,
  until = Number.POSITIVE_INFINITY,
): Promise<State> {
  const head = await journal.head(id)
  if (head === undefined) return absent(id)
  const snapshot = head.snapshot !== undefined && head.snapshot.seq <= until ? head.snapshot : undefined
  let state: State = (snapshot && decodeState(snapshot.state)) ?? absent(id)
  for (;;) {
    const page = await journal.page(id, state.seq, PAGE)
    if (page.length === 0 || state.seq >= until) return state
    for (const stored of page) if (stored.seq <= until) state = evolve(state, decodeEntry(stored))
  }
}

/** The entries after this cursor that are stored by now, page by page. */
export async function* entriesAfter(journal: Journal, session: SessionId, after: Cursor): AsyncGenerator<Entry> {
  let cursor = after
  for (;;) {
    const page = await journal.page(session, cursor, PAGE)
    for (const stored of page) yield decodeEntry(stored)
    const last = page.at(-1)
    if (last === undefined) return
    cursor = last.seq
  }
}

/** Repeats a read that fails with JOURNAL_IO while `isWanted`. Throws the last error, and any other one at once. */
export async function retryRead<Result>(
  clock: Pick<Clock, 'sleep'>,
  read: () => Promise<Result>,
  isWanted: () => boolean = () => true,
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await read()
    } catch (error) {
      if (attempt === READ_ATTEMPTS || !isParleyError(error, 'JOURNAL_IO') || !isWanted()) throw error
    }
    await clock.sleep(RETRY_MS)
  }
}
