/** A session as lines of JSON: first what it is, then every entry as it is stored. It only reads, so it works whoever owns the state. */
import type { Config } from '../../config/schema.ts'
import type { SessionSummary } from '../../ports/journal.ts'
import { ENTRY_FORMAT, decodeEntry } from '../../session/domain/entries.ts'
import { unmarked } from '../../session/lifecycle/import.ts'
import { type JournalReader, openJournalReader } from '../compose/compose-reading.ts'
import { findRow } from './offline-sessions.ts'

/** Raised when an older Parley could misread a newer export. */
export const EXPORT_FORMAT = 1

/** The first line. Only `lastSeq` and `id` mean anything to an import: everything else is told by the entries. */
export interface ExportHead {
  readonly parley: 'session'
  readonly format: number
  readonly entryFormat: number
  readonly session: SessionSummary
}

const PAGE = { entries: 1_000, chars: 4 * 1024 * 1024 }

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

/** As many as there were when it began, unless the session is deleted meanwhile: whoever reads sees that lines are missing. */
async function* entryLines(journal: JournalReader, { id, lastSeq }: SessionSummary): AsyncGenerator<string> {
  for (let seq = 0; seq < lastSeq;) {
    const page = await journal.page(id, seq, PAGE)
    yield* page.filter((stored) => stored.seq <= lastSeq).map(lineOf)
    seq = page.at(-1)?.seq ?? lastSeq
  }
}

/** One entry as it is exported. What a server wants back stays here: it may be a secret, and nothing goes on elsewhere. */
export function lineOf(stored: Parameters<typeof decodeEntry>[0]): string {
  const { seq, at, ...body } = unmarked(decodeEntry(stored))
  return JSON.stringify({ seq, at, ...(body.kind === 'tool_input_requested' ? { ...body, input: null } : body) })
}
