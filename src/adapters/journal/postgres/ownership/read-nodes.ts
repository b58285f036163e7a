/** Looks at the nodes of a cluster without being one. */
import type { Clock } from '../../../../ports/clock.ts'
import { parseAddress } from '../connection/address.ts'
import { Connection } from '../connection/connection.ts'
import { journalError } from '../connection/outcome.ts'
import { type Node, livingNodes } from './heartbeat.ts'
import { nodeStatementsOf } from './node-statements.ts'

export interface ReadNodes {
  /** Of the first database. */
  readonly url: string
  readonly schema: string
  readonly clock: Clock
}

export async function readNodes({ url, schema, clock }: ReadNodes): Promise<readonly Node[]> {
  const address = parseAddress(url)
  const connection = new Connection({ address, clock, connected: () => undefined })
  try {
    return await livingNodes(connection, nodeStatementsOf(schema))
  } catch (error) {
    throw journalError(error, address.shown)
  } finally {
    await connection.close()
  }
}
