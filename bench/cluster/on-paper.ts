/** A million sessions on a thousand nodes, on paper: what was measured, times what such a team does. Pure. */

/** What is assumed. */
const TEAM = { sessions: 1_000_000, nodes: 1_000, working: 0.05, appendsPerSecond: 2, hours: 8 }
/** What was measured on two cores: see docs/internals/journal.md. */
const MEASURED = {
  /** Of statements that each carry one append, on one server. */
  appendsPerSecond: 3_300,
  bytesPerEntry: 230,
  logBytesPerAppend: 360,
  bytesPerSession: 467,
  heartbeatsPerSecond: 999,
  connectionsPerNode: 8,
}
/** What a server of sixteen cores does of what two do; not measured. */
const BIGGER = 4

export function onPaper(): readonly string[] {
  const working = TEAM.sessions * TEAM.working
  const appends = working * TEAM.appendsPerSecond
  const perShard = MEASURED.appendsPerSecond * BIGGER
  const shards = Math.ceil(appends / perShard)
  const each = appends / shards
  const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`
  const count = (value: number) => Math.round(value).toLocaleString('en')
  const rows: readonly (readonly [string, string])[] = [
    ['sessions, nodes', `${count(TEAM.sessions)}, ${count(TEAM.nodes)}`],
    ['sessions at work', count(working)],
    ['appends a second in all', count(appends)],
    ['… of one node to one shard', (each / TEAM.nodes).toFixed(1)],
    ['databases, at four times what two cores do', `${shards} with ${count(each)} appends a second each`],
    ['rows a second and database', megabytes(each * MEASURED.bytesPerEntry)],
    ['log a second and database', megabytes(each * MEASURED.logBytesPerAppend)],
    [`rows of ${TEAM.hours} h and database`, megabytes(each * MEASURED.bytesPerEntry * TEAM.hours * 3_600)],
    ['rows of sessions in all', megabytes(TEAM.sessions * MEASURED.bytesPerSession)],
    ['connections of a database without a pooler', count(TEAM.nodes * MEASURED.connectionsPerNode)],
    ['beats a second in the first database', `${count(TEAM.nodes)} (measured: ${count(MEASURED.heartbeatsPerSecond)})`],
    ['sessions at work of one node that dies', count(working / TEAM.nodes)],
  ]
  return ['\non paper: a million sessions', ...rows.map(([what, value]) => `  ${what.padEnd(46)} ${value}`)]
}
