/** Looks at the nodes of a cluster without being one. */
import type { Clock } from '../../../../ports/clock.ts'
import { parseAddress } from '../connection/address.ts'
import { DatabaseConnection } from '../connection/connection.ts'
import { journalError } from '../connection/outcome.ts'
import { type Node, livingNodes } from './heartbeat.ts'
import { type NodeStatements, nodeStatementsOf } from './node-statements.ts'

export interface ReadNodes {
  /** Of the first database. */
  readonly url: string
  readonly schema: string
  readonly clock: Clock
}

export function readNodes(nodes: ReadNodes): Promise<readonly Node[]> {
  return asked(nodes, livingNodes)
}

/** By which the nodes know each other; empty where none has served yet. */
export function readNodeToken(nodes: ReadNodes): Promise<string> {
  return asked(nodes, async (connection, { token }) => (await connection.query(token, [])).rows[0]?.[0] ?? '')
}

async function asked<Answer>(
  { url, schema, clock }: ReadNodes,
  ask: (connection: DatabaseConnection, statements: NodeStatements) => Promise<Answer>,
): Promise<Answer> {
  const address = parseAddress(url)
  const connection = new DatabaseConnection({ address, clock, connected: () => undefined })
  try {
    return await ask(connection, nodeStatementsOf(schema))
  } catch (error) {
    throw journalError(error, address.shown)
  } finally {
    await connection.close()
  }
}
