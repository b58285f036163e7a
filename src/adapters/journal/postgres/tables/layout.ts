/** The tables in which a cluster keeps its sessions, and the numbers that say which Parley may use them. */

/** The newest layout that this Parley knows. A later one only adds. */
export const knownLayout = 1

/** A schema's name as a part of a statement; every statement names it, so that no setting of a connection decides where it goes. */
export function quotedSchema(schema: string): string {
  return `"${schema.replaceAll('"', '""')}"`
}

/**
 * The statements that make the tables. `key` is a random number of this incarnation of a session: one of the same id that comes later
 * has another. `epoch` and `boot` say who may append. A row of `entry` is one append, of which (`epoch`, `batch`) is the name.
 * `last_seq`, `updated_at` are as of the last writing of the session's row; newer ones stand in `entry`.
 */
export function tablesOf(schema: string): readonly string[] {
  const s = quotedSchema(schema)
  return [
    `CREATE SCHEMA IF NOT EXISTS ${s}`,
    `CREATE TABLE IF NOT EXISTS ${s}.session (
      id text COLLATE "C" PRIMARY KEY,
      key bigint NOT NULL UNIQUE,
      epoch bigint NOT NULL,
      boot text,
      base bigint NOT NULL,
      last_seq bigint NOT NULL,
      updated_at bigint NOT NULL,
      touched bigint NOT NULL,
      phase text NOT NULL,
      cwd text COLLATE "C" NOT NULL,
      info text NOT NULL
    ) WITH (fillfactor = 80)`,
    `CREATE INDEX IF NOT EXISTS session_newest ON ${s}.session (touched DESC)`,
    // Hashed: a directory may be longer than a key of a tree can be.
    `CREATE INDEX IF NOT EXISTS session_of_cwd ON ${s}.session USING hash (cwd)`,
    `CREATE INDEX IF NOT EXISTS session_open ON ${s}.session (touched DESC) WHERE phase NOT IN ('idle', 'closed')`,
    `CREATE INDEX IF NOT EXISTS session_of_boot ON ${s}.session (boot) WHERE boot IS NOT NULL`,
    `CREATE TABLE IF NOT EXISTS ${s}.entry (
      session bigint NOT NULL,
      first bigint NOT NULL,
      count int NOT NULL,
      epoch bigint NOT NULL,
      batch bigint NOT NULL,
      at bigint NOT NULL,
      body text NOT NULL,
      PRIMARY KEY (session, first)
    ) WITH (autovacuum_vacuum_insert_scale_factor = 0.05)`,
    `CREATE TABLE IF NOT EXISTS ${s}.snapshot (session bigint PRIMARY KEY, seq bigint NOT NULL, state text NOT NULL)`,
    `CREATE TABLE IF NOT EXISTS ${s}.orphan (session bigint PRIMARY KEY, since bigint NOT NULL, boot text)`,
    `CREATE TABLE IF NOT EXISTS ${s}.node (
      name text COLLATE "C" PRIMARY KEY,
      boot text NOT NULL,
      beat bigint NOT NULL,
      dead boolean NOT NULL,
      record text NOT NULL
    ) WITH (fillfactor = 20, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0)`,
    `CREATE TABLE IF NOT EXISTS ${s}.meta (name text PRIMARY KEY, value text NOT NULL)`,
  ]
}

/** What `meta` says about this database and its place among the databases of the cluster. */
export interface Identity {
  readonly layout: number
  readonly cluster: string
  readonly shard: number
  readonly shards: number
}

export function identityOf(rows: readonly (readonly [name: string, value: string])[]): Identity | undefined {
  const meta = new Map(rows)
  const cluster = meta.get('cluster')
  if (cluster === undefined) return undefined
  const number = (name: string): number => Number(meta.get(name) ?? 0)
  return { layout: number('layout'), cluster, shard: number('shard'), shards: number('shards') }
}

export function metaOf({ layout, cluster, shard, shards }: Identity): readonly (readonly [string, string])[] {
  return [
    ['layout', String(layout)],
    ['cluster', cluster],
    ['shard', String(shard)],
    ['shards', String(shards)],
  ]
}
