/** The lines about a database of the cluster: what an acknowledgement means there, and warnings. */
import type { CheckedDatabase } from '../../../server/cluster/cluster-reading.ts'

const DURABILITY = {
  replicated: 'replicated: what was acknowledged is on the disks of the primary and of a synchronous standby',
  disk: 'disk: what was acknowledged is on the disk of the primary',
  memory: 'memory: what was acknowledged last is lost when the database or its machine stops',
}

const WAITS = 'it acknowledges no change now: see whether the standby of its synchronous_standby_names is connected'
/** A transaction that is open longer than this is probably forgotten. */
const LONG_SECONDS = 600

/** Reasons not to rely on this database, and what may be lost. */
export function warningsOf({ warnings, unsafe, isWaiting, transactionSeconds }: CheckedDatabase): readonly string[] {
  const minutes = Math.round(transactionSeconds / 60)
  return [
    ...unsafe,
    ...(isWaiting ? [WAITS] : []),
    ...warnings,
    ...(transactionSeconds > LONG_SECONDS
      ? [`a transaction has been open for ${minutes} minutes: until it ends, what changes is not cleared away`]
      : []),
  ]
}

export function databaseLines(database: CheckedDatabase): readonly string[] {
  const { address, durability } = database
  return [address, ...[DURABILITY[durability], ...warningsOf(database)].map((line) => `  ${line}`)]
}
