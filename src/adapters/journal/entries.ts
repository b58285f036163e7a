/** What every journal checks of the entries it is given and of the pages it gives. */
import { fail } from '../../errors/parley-error.ts'
import type { Append, PageLimits, StoredEntry } from '../../ports/journal.ts'

/** A writer's mistake must never become a hole in a journal. */
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

/** The first entries that fit the limits; one always does. Takes no more from the source than it needs. */
export function fit(entries: Iterable<StoredEntry>, limits: PageLimits): readonly StoredEntry[] {
  const page: StoredEntry[] = []
  let chars = 0
  for (const entry of entries) {
    chars += entry.body.length
    if (page.length > 0 && chars > limits.chars) break
    page.push(entry)
    if (page.length >= limits.entries) break
  }
  return page
}
