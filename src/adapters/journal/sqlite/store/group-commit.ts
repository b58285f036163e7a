/** Group commit: many writes in one transaction, of which each stands or falls alone. */
import { isParleyError } from '../../../../errors/parley-error.ts'
import type { Faults } from '../../../../ports/fault.ts'
import type { Answer, WriteCall } from '../worker/messages.ts'
import { mayBeOneWrites, refusalOf } from '../file/sqlite-errors.ts'
import type { Database } from '../file/schema.ts'
import type { Store } from './store.ts'

export interface GroupTools {
  readonly db: Database
  readonly store: Store
  readonly faults: Faults
  readonly path: string
}

/** Answers every call of the group after its transaction is on the disk, or has changed nothing. */
export async function commitGroup(tools: GroupTools, group: readonly WriteCall[]): Promise<readonly Answer[]> {
  try {
    return await commit(tools, group)
  } catch (error) {
    tools.store.renew()
    rollBack(tools.db)
    if (group.length > 1 && mayBeOneWrites(error)) return commitEachAlone(tools, group)
    const refusal = refusalOf(error, tools.path)
    return group.map(([call]) => [call, null, refusal])
  }
}

/** One write may be too big for the disk, or meet a damaged page, where its neighbours do not. */
async function commitEachAlone(tools: GroupTools, group: readonly WriteCall[]): Promise<readonly Answer[]> {
  const answers: Answer[] = []
  for (const write of group) answers.push(...(await commitGroup(tools, [write])))
  return answers
}

async function commit(tools: GroupTools, group: readonly WriteCall[]): Promise<readonly Answer[]> {
  const { db, faults } = tools
  db.exec('BEGIN IMMEDIATE')
  const answers = group.map((write) => attempt(tools, write))
  const written = faults.at('journal.rows.written')
  if (written !== undefined) await written
  db.exec('COMMIT')
  const committed = faults.at('journal.transaction.committed')
  if (committed !== undefined) await committed
  return answers
}

/** A conflict is found before anything is written, so the others go on; anything else ends the transaction. */
function attempt({ store, path }: GroupTools, order: WriteCall): Answer {
  const [call] = order
  try {
    return [call, write(store, order) ?? null]
  } catch (error) {
    if (isParleyError(error, 'JOURNAL_CONFLICT')) return [call, null, refusalOf(error, path)]
    throw error
  }
}

function write(store: Store, [, kind, ask]: WriteCall): unknown {
  switch (kind) {
    case 'append':
      return store.append(ask)
    case 'fork':
      return store.forks.begin(ask)
    case 'copy':
      return store.forks.copy(ask)
    case 'draft':
      return store.forks.draft()
    case 'fill':
      return store.forks.fill(ask)
    case 'finish':
      return store.forks.finish(ask)
    case 'abandon':
      return store.forks.abandon(ask)
    case 'delete':
      return store.forget(ask)
  }
}

/** SQLite has rolled back by itself after some errors. */
export function rollBack(db: Database): void {
  if (db.isTransaction) db.exec('ROLLBACK')
}
