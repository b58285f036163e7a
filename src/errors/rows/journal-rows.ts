/** The errors of the journal and of the state directory that it is in: rows of the catalogue. */
import { INTERNAL, INVALID_PARAMS, row } from '../row.ts'

export const journalRows = {
  JOURNAL_CONFLICT: row<{ session: string; expected: number; found: number }>(
    INTERNAL,
    true,
    (d) =>
      `Another server wrote to session ${d.session} first (expected ${d.expected}, found ${d.found}). Reload it and try again.`,
  ),
  JOURNAL_FULL: row<{ path: string }>(
    INTERNAL,
    true,
    (d) =>
      `The disk is full, so nothing more can be stored in ${d.path}. What was stored is safe; free some space and try again.`,
  ),
  JOURNAL_IO: row<{ path: string; reason: string }>(
    INTERNAL,
    true,
    (d) => `The journal ${d.path} could not be read or written: ${d.reason}. Check the disk and its permissions.`,
  ),
  JOURNAL_CORRUPT: row<{ path: string; reason: string }>(
    INTERNAL,
    false,
    (d) => `The journal ${d.path} is damaged (${d.reason}). Parley left it untouched; restore a copy or move it away.`,
  ),
  JOURNAL_FOREIGN: row<{ path: string }>(
    INTERNAL,
    false,
    (d) => `${d.path} is not a Parley journal. Parley left it untouched; move it away or set PARLEY_HOME elsewhere.`,
  ),
  JOURNAL_TOO_OLD: row<{ path: string }>(
    INTERNAL,
    false,
    (d) =>
      `The journal ${d.path} was written by a development version of Parley, before journal format 1, and cannot be read. Move it away; the file was left untouched.`,
  ),
  JOURNAL_TOO_NEW: row<{ path: string; found: number; known: number }>(
    INTERNAL,
    false,
    (d) =>
      `The journal ${d.path} was written by a newer Parley (format ${d.found}, this one knows ${d.known}). Update Parley; the file was left untouched.`,
  ),
  JOURNAL_CLOSED: row(
    INTERNAL,
    true,
    () => 'The journal is closed because the server is stopping. Start it again and retry.',
  ),
  JOURNAL_WENT_BACK: row<{ session: string; had: number; found: number }>(
    INTERNAL,
    false,
    (d) =>
      `The database has lost the end of session ${d.session}: entry ${d.had} was stored, and the last one now is ${d.found}. A standby that was behind was promoted, or a backup restored. Load the session from the beginning.`,
  ),
  STATE_IN_USE: row<{ path: string; pid: number | null }>(
    INTERNAL,
    true,
    (d) =>
      `Another Parley${d.pid === null ? '' : ` (pid ${d.pid})`} owns ${d.path}. Stop it first, or set PARLEY_HOME to another directory.`,
  ),
  CLUSTER_IN_USE: row<{ path: string; pid: number; node: string }>(
    INTERNAL,
    true,
    (d) => `The node ${d.node} (pid ${d.pid} there) serves the cluster in ${d.path}. Stop all of its nodes first.`,
  ),
  STATE_NOT_PRIVATE: row<{ path: string; reason: string }>(
    INVALID_PARAMS,
    false,
    (d) => `The state directory ${d.path} cannot be used: ${d.reason}.`,
  ),
}
