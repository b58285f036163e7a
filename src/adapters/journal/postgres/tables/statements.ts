/** Every statement of the journal, with its schema in it. All are plain SQL: no triggers, sequences, locks by name or extensions. */
import { quotedSchema } from './layout.ts'

export interface Statement {
  /** PostgreSQL keeps its plan under this name for as long as the connection lasts. */
  readonly name: string
  readonly text: string
}

/** The last row of a session's entries. */
const LAST_ROW = (schema: string, session: string): string =>
  `(SELECT x.first + x.count - 1 AS last, x.at, x.epoch, x.batch FROM ${schema}.entry x WHERE x.session = ${session} ORDER BY x.first DESC LIMIT 1)`

/** Columns of `HeadColumns`, of a session `s` and its last row `x`. */
const HEAD =
  's.key, s.id, s.epoch, s.boot, s.last_seq, s.updated_at, s.phase, s.cwd, s.info, x.last, x.at, x.epoch, x.batch'
const UPDATED = 'CASE WHEN x.last > s.last_seq THEN x.at ELSE s.updated_at END'

export type Statements = ReturnType<typeof statementsOf>

export function statementsOf(name: string) {
  const s = quotedSchema(name)
  return { ...appending(s), ...ofSessions(s), ...ofDrafts(s) }
}

function appending(s: string) {
  return {
    /**
     * Appends to many sessions, each for itself; answers the keys of those that were stored. Under the lock of the session's row the
     * epoch and the last entry are compared. A row whose `phase` is null is not written: what it says has not changed.
     */
    append: {
      name: 'parley_append',
      text: `WITH b AS (
          SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::text[],
            $8::text[], $9::bigint[], $10::bigint[], $11::text[], $12::text[], $13::bigint[], $14::text[])
          AS b(key, expected, last, epoch, batch, at, body, phase, updated, touched, cwd, info, snapped, snap)),
        l AS (SELECT b.* FROM b JOIN ${s}.session s ON s.key = b.key
          WHERE s.epoch = b.epoch AND s.base <= b.expected
            AND b.expected = coalesce((SELECT x.first + x.count - 1 FROM ${s}.entry x WHERE x.session = s.key ORDER BY x.first DESC LIMIT 1), 0)
          FOR NO KEY UPDATE OF s),
        e AS (INSERT INTO ${s}.entry (session, first, count, epoch, batch, at, body)
          SELECT key, expected + 1, last - expected, epoch, batch, at, body FROM l WHERE last > expected),
        u AS (UPDATE ${s}.session s SET last_seq = l.last, updated_at = l.updated, touched = l.touched, phase = l.phase,
            cwd = l.cwd, info = l.info FROM l WHERE s.key = l.key AND l.phase IS NOT NULL),
        p AS (INSERT INTO ${s}.snapshot (session, seq, state) SELECT key, snapped, snap FROM l WHERE snap IS NOT NULL
          ON CONFLICT (session) DO UPDATE SET seq = excluded.seq, state = excluded.state)
        SELECT key FROM l`,
    },
    /**
     * Makes sessions, which is also the claim to them: epoch 1. Of a fork the source must still be there, or its entries may have been
     * cleared away while they were copied; and a draft must still be this process's own, or it is being cleared away. Answers the keys
     * of those that were made.
     */
    create: {
      name: 'parley_create',
      text: `WITH b AS (
          SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[],
            $7::text[], $8::bigint[], $9::bigint[], $10::text[], $11::text[], $12::bigint[], $13::text[],
            $14::text[], $15::text[], $16::bigint[], $17::bool[])
          AS b(key, expected, last, batch, at, body, phase, updated, touched, cwd, info, snapped, snap, id, boot, source, is_draft)),
        k AS (SELECT s.key FROM ${s}.session s WHERE s.key IN (SELECT b.source FROM b) FOR KEY SHARE),
        d AS (SELECT o.session FROM ${s}.orphan o JOIN b ON b.key = o.session WHERE b.is_draft AND o.boot = b.boot FOR UPDATE OF o),
        m AS (INSERT INTO ${s}.session (id, key, epoch, boot, base, last_seq, updated_at, touched, phase, cwd, info)
          SELECT id, key, 1, boot, 0, last, updated, touched, phase, cwd, info FROM b
            WHERE (b.source IS NULL OR b.source IN (SELECT k.key FROM k))
              AND (NOT b.is_draft OR b.key IN (SELECT d.session FROM d))
          ON CONFLICT (id) DO NOTHING RETURNING key),
        e AS (INSERT INTO ${s}.entry (session, first, count, epoch, batch, at, body)
          SELECT b.key, expected + 1, last - expected, 1, batch, at, body FROM b JOIN m ON m.key = b.key WHERE last > expected),
        p AS (INSERT INTO ${s}.snapshot (session, seq, state)
          SELECT b.key, snapped, snap FROM b JOIN m ON m.key = b.key WHERE snap IS NOT NULL),
        o AS (DELETE FROM ${s}.orphan o USING m WHERE o.session = m.key)
        SELECT key FROM m`,
    },
    /**
     * Puts one row in the place of those of the entries after $3 up to $4, under the name of the last append among them; nothing where
     * another process has claimed the session. An append that was sent before and arrives late may have begun when the rows of then
     * were there: `base` refuses it, which the lock of the session's row compares anew. One that follows passes.
     */
    pack: {
      name: 'parley_pack',
      text: `WITH r AS (SELECT count(*) AS rows, sum(count) AS entries FROM ${s}.entry
          WHERE session = $1::bigint AND first > $3::bigint AND first <= $4::bigint),
        s AS (UPDATE ${s}.session SET base = $4::bigint
          WHERE key = $1::bigint AND epoch = $2::bigint AND base <= $3::bigint
            AND (SELECT r.entries = $4::bigint - $3::bigint AND r.rows > 1 FROM r) RETURNING key),
        d AS (DELETE FROM ${s}.entry e USING s WHERE e.session = s.key AND e.first > $3::bigint AND e.first <= $4::bigint
          RETURNING e.session, e.first, e.epoch, e.batch)
        INSERT INTO ${s}.entry (session, first, count, epoch, batch, at, body)
        SELECT d.session, $3::bigint + 1, $4::bigint - $3::bigint, max(d.epoch), (array_agg(d.batch ORDER BY d.first DESC))[1],
          $5::bigint, $6 FROM d GROUP BY d.session`,
    },
    /** Changes nothing, and its commit waits for the standby like any other: what lies before it is there too then. */
    touch: {
      name: 'parley_touch',
      text: `UPDATE ${s}.session SET touched = touched WHERE key = $1::bigint AND epoch = $2::bigint RETURNING key`,
    },
  }
}

function ofSessions(s: string) {
  return {
    head: {
      name: 'parley_head',
      text: `SELECT ${HEAD}, p.seq, p.state FROM ${s}.session s LEFT JOIN LATERAL ${LAST_ROW(s, 's.key')} x ON true
        LEFT JOIN ${s}.snapshot p ON p.session = s.key WHERE s.id = $1`,
    },
    /** Where each of these sessions ends. */
    ends: {
      name: 'parley_ends',
      text: `SELECT s.key, s.epoch, coalesce(x.last, 0) FROM ${s}.session s LEFT JOIN LATERAL ${LAST_ROW(s, 's.key')} x ON true
        WHERE s.key = ANY($1::bigint[])`,
    },
    key: { name: 'parley_key', text: `SELECT key FROM ${s}.session WHERE id = $1` },
    /** The rows from that which holds entry $2 on, as many as begin within $3 bytes. */
    page: {
      name: 'parley_page',
      text: `SELECT first, count, body FROM (
          SELECT e.first, e.count, e.body,
            sum(octet_length(e.body)) OVER (ORDER BY e.first ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
          FROM (SELECT first, count, body FROM ${s}.entry WHERE session = $1::bigint
            AND first >= coalesce((SELECT max(first) FROM ${s}.entry WHERE session = $1::bigint AND first <= $2::bigint), 0)
            ORDER BY first LIMIT 256) e) t
        WHERE coalesce(before, 0) < $3::bigint ORDER BY first`,
    },
    /** Sessions in the order of lists, after one of them. The index orders minutes; what is within one is sorted. */
    list: (filter: ListFilter): Statement => ({ name: `parley_list_${filter}`, text: listText(s, filter) }),
    /** All sessions in the order of their keys, after $1. */
    all: {
      name: 'parley_all',
      text: `SELECT ${HEAD} FROM ${s}.session s LEFT JOIN LATERAL ${LAST_ROW(s, 's.key')} x ON true
        WHERE s.key > $1::bigint ORDER BY s.key LIMIT $2::bigint`,
    },
    /** Those of them that were touched since $3. */
    recent: {
      name: 'parley_recent',
      text: `SELECT ${HEAD} FROM ${s}.session s LEFT JOIN LATERAL ${LAST_ROW(s, 's.key')} x ON true
        WHERE s.key > $1::bigint AND s.touched >= $3::bigint ORDER BY s.key LIMIT $2::bigint`,
    },
    delete: {
      name: 'parley_delete',
      text: `WITH d AS (DELETE FROM ${s}.session WHERE key = $1::bigint AND epoch = $2::bigint RETURNING key),
        p AS (DELETE FROM ${s}.snapshot p USING d WHERE p.session = d.key)
        INSERT INTO ${s}.orphan (session, since, boot) SELECT key, $3::bigint, NULL FROM d RETURNING session`,
    },
    /** After a session was deleted: its commit waits for the standby, and what lies before it is there too then. */
    deleted: {
      name: 'parley_deleted',
      text: `INSERT INTO ${s}.orphan (session, since, boot) VALUES ($1::bigint, $2::bigint, NULL)
        ON CONFLICT (session) DO UPDATE SET since = excluded.since`,
    },
    /** The claim to a session whose epoch is still $2. */
    claim: {
      name: 'parley_claim',
      text: `UPDATE ${s}.session SET epoch = epoch + 1, boot = $3 WHERE id = $1 AND epoch = $2::bigint RETURNING key, epoch`,
    },
    /** Some of the sessions of a process that owns none any more are free then. */
    disown: {
      name: 'parley_disown',
      text: `UPDATE ${s}.session SET epoch = epoch + 1, boot = NULL
        WHERE key IN (SELECT key FROM ${s}.session WHERE boot = $1 LIMIT 1000) AND boot = $1 RETURNING key`,
    },
  }
}

/** And of the entries that no session has. */
function ofDrafts(s: string) {
  return {
    draft: {
      name: 'parley_draft',
      text: `INSERT INTO ${s}.orphan (session, since, boot) VALUES ($1::bigint, $2::bigint, $3)`,
    },
    abandon: { name: 'parley_abandon', text: `UPDATE ${s}.orphan SET boot = NULL WHERE session = $1::bigint` },
    /**
     * Copies whole rows of session $1 behind those that draft $2 has, up to entry $4, and answers how far they reach: nowhere if the
     * next entry is in the middle of a row, because they were packed meanwhile.
     */
    copy: {
      name: 'parley_copy',
      text: `WITH c AS (INSERT INTO ${s}.entry (session, first, count, epoch, batch, at, body)
          SELECT $2::bigint, first, count, 1, 0, at, body FROM ${s}.entry
            WHERE session = $1::bigint AND first > $3::bigint AND first + count - 1 <= $4::bigint
              AND EXISTS (SELECT 1 FROM ${s}.entry n WHERE n.session = $1::bigint AND n.first = $3::bigint + 1)
            ORDER BY first LIMIT 1000
          RETURNING first + count - 1 AS last)
        SELECT max(last) FROM c`,
    },
    fill: {
      name: 'parley_fill',
      text: `INSERT INTO ${s}.entry (session, first, count, epoch, batch, at, body)
        SELECT $1::bigint, first, count, 1, 0, at, body
        FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::text[]) AS b(first, count, at, body)`,
    },
    drafters: { name: 'parley_drafters', text: `SELECT DISTINCT boot FROM ${s}.orphan WHERE boot IS NOT NULL` },
    inherit: { name: 'parley_inherit', text: `UPDATE ${s}.orphan SET boot = NULL WHERE boot = $1` },
    orphans: { name: 'parley_orphans', text: `SELECT session FROM ${s}.orphan WHERE boot IS NULL LIMIT 100` },
    /** Answers how many it removed: none of a draft that a process still writes. */
    sweep: {
      name: 'parley_sweep',
      text: `WITH o AS (SELECT session FROM ${s}.orphan WHERE session = $1::bigint AND boot IS NULL FOR UPDATE),
        d AS (DELETE FROM ${s}.entry WHERE session IN (SELECT o.session FROM o) AND first IN
          (SELECT first FROM ${s}.entry WHERE session = $1::bigint ORDER BY first LIMIT 2000) RETURNING 1)
        SELECT count(*) FROM d`,
    },
    swept: { name: 'parley_swept', text: `DELETE FROM ${s}.orphan WHERE session = $1::bigint AND boot IS NULL` },
    /** Changes nothing, and is acknowledged like any change. */
    probe: { name: 'parley_probe', text: `UPDATE ${s}.meta SET value = value WHERE name = 'layout'` },
    /** Also how long the oldest transaction of this database has been open: nothing that it may still see is cleared away. */
    size: {
      name: 'parley_size',
      text: `SELECT (SELECT count(*) FROM ${s}.session),
        (SELECT sum(pg_total_relation_size(t)) FROM unnest(ARRAY['${s}.session', '${s}.entry', '${s}.snapshot']::regclass[]) t),
        (SELECT coalesce(max(extract(epoch FROM clock_timestamp() - a.xact_start)), 0)::bigint FROM pg_stat_activity a
          WHERE a.datname = current_database() AND a.pid <> pg_backend_pid())`,
    },
    meta: { name: 'parley_meta', text: `SELECT name, value FROM ${s}.meta` },
  }
}

/** Which conditions a list has: letters of `c` (directory), `p` (phases), `o` (only open ones), `a` (after a session). */
export type ListFilter = string

function listText(s: string, filter: ListFilter): string {
  const conditions = [
    filter.includes('c') ? 's.cwd = $2' : '$2::text IS NULL',
    filter.includes('p') ? 's.phase = ANY($3::text[])' : '$3::text[] IS NULL',
    ...(filter.includes('o') ? ["s.phase NOT IN ('idle', 'closed')"] : []),
    filter.includes('a')
      ? `s.touched <= $4::bigint AND (s.touched < $4::bigint OR ${UPDATED} < $5::bigint OR (${UPDATED} = $5::bigint AND s.id > $6))`
      : '$4::bigint IS NULL AND $5::bigint IS NULL AND $6::text IS NULL',
  ]
  return `SELECT ${HEAD} FROM ${s}.session s LEFT JOIN LATERAL ${LAST_ROW(s, 's.key')} x ON true
    WHERE ${conditions.join(' AND ')} ORDER BY s.touched DESC, ${UPDATED} DESC, s.id LIMIT $1::bigint`
}
