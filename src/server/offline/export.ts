/** A session as lines of JSON: first what it is, then every entry as it is stored. It only reads, so it also works while a server owns the state. */
import type { Config } from '../../config/settings.ts'
import type { SessionSummary } from '../../ports/journal.ts'
import { ENTRY_FORMAT, decodeEntry } from '../../session/domain/entries.ts'
import { unmarked } from '../../session/lifecycle/import-session.ts'
import { type JournalReader, openJournalReader } from '../compose/compose-reading.ts'
import { findRow } from './offline-sessions.ts'

/** Raised when an older Parley could misread a newer export. */
export const EXPORT_FORMAT = 1

/** The first line. An import uses only `lastSeq` and `id`; everything else comes from the entries. */
export interface ExportHead {
  readonly parley: 'session'
  readonly format: number
  readonly entryFormat: number
  readonly session: SessionSummary
}

const PAGE_LIMITS = { entries: 1_000, chars: 4 * 1024 * 1024 }

/** The session of this id, or the only one whose id begins so, as it is now. Throws SESSION_NOT_FOUND or SESSION_AMBIGUOUS. */
export async function* exportedLines(config: Config, prefix: string): AsyncGenerator<string> {
  const journal = await openJournalReader(config)
  try {
    const session = await findRow(journal, prefix)
    const head: ExportHead = { parley: 'session', format: EXPORT_FORMAT, entryFormat: ENTRY_FORMAT, session }
    yield JSON.stringify(head)
    yield* entryLines(journal, session)
  } finally {
    await journal.close()
  }
}

/** The entries that existed when it began. If the session is deleted meanwhile, `lastSeq` shows that lines are missing. */
async function* entryLines(journal: JournalReader, { id, lastSeq }: SessionSummary): AsyncGenerator<string> {
  for (let seq = 0; seq < lastSeq;) {
    const page = await journal.page(id, seq, PAGE_LIMITS)
    yield* page.filter((stored) => stored.seq <= lastSeq).map(lineOf)
    seq = page.at(-1)?.seq ?? lastSeq
  }
}

/** One entry as it is exported. The state that an MCP server wants back is left out: it may be a secret, and no import continues the call. */
export function lineOf(stored: Parameters<typeof decodeEntry>[0]): string {
  const { seq, at, ...body } = unmarked(decodeEntry(stored))
  return JSON.stringify({ seq, at, ...(body.kind === 'tool_input_requested' ? { ...body, input: null } : body) })
}
