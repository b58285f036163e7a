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

export interface ListedNode extends Node {
  readonly serves: boolean
}

/** The one that serves comes first. */
export async function readNodes({ url, schema, clock }: ReadNodes): Promise<readonly ListedNode[]> {
  const address = parseAddress(url)
  const statements = nodeStatementsOf(schema)
  const connection = new Connection({ address, clock, connected: () => undefined })
  try {
    const { rows } = await connection.query(statements.owner, [])
    const nodes = await livingNodes(connection, statements)
    const listed = nodes.map((node) => Object.assign({ serves: node.boot === rows[0]?.[0] }, node))
    return listed.toSorted((left, right) => Number(right.serves) - Number(left.serves))
  } catch (error) {
    throw journalError(error, address.shown)
  } finally {
    await connection.close()
  }
}
