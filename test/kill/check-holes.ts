/** Entries are numbered 1, 2, 3 … per session. */
import type { Finding, JournalRow } from './evidence.ts'

export function checkHoles(journal: readonly JournalRow[]): readonly Finding[] {
  const hole = journal.findIndex(({ seq }, index) => seq !== index + 1)
  return hole === -1
    ? []
    : [{ kind: 'wrong', what: `the journal has seq ${journal[hole]?.seq} where ${hole + 1} belongs` }]
}
