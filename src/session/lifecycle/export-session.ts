/** A session as lines of JSON: first what it is, then every entry as it is stored. */
import type { Cursor, Journal, SessionSummary } from '../../ports/journal.ts'
import { ENTRY_FORMAT, decodeEntry } from '../domain/entries.ts'
import { unmarked } from './import-session.ts'

/** Raised when an older Parley could misread a newer export. */
export const EXPORT_FORMAT = 1

/** The first line. An import uses only `lastSeq` and `id`; everything else comes from the entries. */
interface ExportHead {
  readonly parley: 'session'
  readonly format: number
  readonly entryFormat: number
  readonly session: SessionSummary
}

const PAGE_LIMITS = { entries: 1_000, chars: 4 * 1024 * 1024 }

/** Lines of an export, in order. */
export interface ExportPage {
  readonly lines: readonly string[]
  /** The entry of the last line: the next page is the one after it. */
  readonly seq: Cursor
  readonly more: boolean
  /** The last entry of the whole export. */
  readonly lastSeq: Cursor
}

/** With the head where it begins. `session` is the row when the export began; entries that came later are left out. */
export async function exportPage(
  journal: Pick<Journal, 'page'>,
  session: SessionSummary,
  after: Cursor,
): Promise<ExportPage> {
  const page = await journal.page(session.id, after, PAGE_LIMITS)
  const { lastSeq } = session
  const entries = page.filter(({ seq }) => seq <= lastSeq).map(exportLine)
  const lines = after === 0 ? [headOf(session), ...entries] : entries
  const seq = page.at(-1)?.seq ?? lastSeq
  return { lines, seq, more: seq < lastSeq, lastSeq }
}

function headOf(session: SessionSummary): string {
  const head: ExportHead = { parley: 'session', format: EXPORT_FORMAT, entryFormat: ENTRY_FORMAT, session }
  return JSON.stringify(head)
}

/** One entry as it is exported. The state that an MCP server wants back is left out: it may be a secret, and no import continues the call. */
export function exportLine(stored: Parameters<typeof decodeEntry>[0]): string {
  const { seq, at, ...body } = unmarked(decodeEntry(stored))
  return JSON.stringify({ seq, at, ...(body.kind === 'tool_input_requested' ? { ...body, input: null } : body) })
}
