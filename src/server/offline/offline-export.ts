/** A session as lines of JSON, read from the journal: it works while a server owns the state, and without one. */
import type { Config } from '../../config/settings.ts'
import { exportPage } from '../../session/lifecycle/export-session.ts'
import { openJournalReader } from '../compose/open-state.ts'
import { findRow } from './offline-sessions.ts'

/** The session of this id, or the only one whose id begins so, as it is now. Throws SESSION_NOT_FOUND or SESSION_AMBIGUOUS. */
export async function* exportedLines(config: Config, prefix: string): AsyncGenerator<string> {
  const journal = await openJournalReader(config)
  try {
    const session = await findRow(journal, prefix)
    // If the session is deleted meanwhile, `lastSeq` of the head shows that lines are missing.
    for (let after = 0, more = true; more;) {
      const page = await exportPage(journal, session, after)
      yield* page.lines
      after = page.seq
      more = page.more
    }
  } finally {
    await journal.close()
  }
}
