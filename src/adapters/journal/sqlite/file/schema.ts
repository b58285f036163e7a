/** The schema of a Parley journal file, and how an older file is migrated to a newer one. */
import type { Database } from '../../../../sqlite/database.ts'

/** "PrlJ" in the header of the file. */
export const applicationId = 0x50_72_6c_4a
/** "Prly": the application id of journals before format 1, which are no longer read. */
export const developmentId = 0x50_72_6c_79

/**
 * Step n leads from format n to n + 1, forward only; a step that has been released is never changed.
 * `entries` holds each session's journal in one stretch of the tree, a row being `count` entries of which `seq` is the last
 * (`../../bundle.ts`), and rows up to `packed_seq` being packed as well as they can be; snapshots have a table of their own, so that an
 * append that brings none does not write the old one again; `orphans` are sessions whose entries are still to be cleared away.
 */
const steps = [
  `PRAGMA application_id = ${applicationId};
  CREATE TABLE sessions (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    cwd TEXT NOT NULL,
    additional_directories TEXT NOT NULL,
    agent TEXT NOT NULL,
    title TEXT,
    phase TEXT NOT NULL,
    last_seq INTEGER NOT NULL,
    packed_seq INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX sessions_newest ON sessions (updated_at DESC, id);
  CREATE INDEX sessions_of_cwd ON sessions (cwd, updated_at DESC, id);
  CREATE INDEX sessions_open ON sessions (updated_at DESC, id) WHERE phase NOT IN ('idle', 'closed');
  CREATE TABLE entries (
    session INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    count INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (session, seq)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE snapshots (session INTEGER PRIMARY KEY, seq INTEGER NOT NULL, state TEXT NOT NULL) STRICT;
  CREATE TABLE orphans (session INTEGER PRIMARY KEY) STRICT;`,
  // How the last turn ended and what the session waits for, as JSON.
  'ALTER TABLE sessions ADD COLUMN standing TEXT;',
  // The row of a session that works may be older than its last entries: last_seq and updated_at are theirs.
  '',
] as const

/** The newest format that this Parley knows. */
export const knownVersion = steps.length

/** Each step stands in a transaction of its own together with the version that it leads to. */
export function migrate(db: Database, from: number): void {
  for (const [index, step] of steps.entries()) {
    if (index < from) continue
    db.exec(`BEGIN IMMEDIATE; ${step} PRAGMA user_version = ${index + 1}; COMMIT;`)
  }
}
