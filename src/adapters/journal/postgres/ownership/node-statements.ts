/** The statements for the heartbeats of nodes and for finding other nodes. All of them use the first database of the cluster. */
import { quotedSchema } from '../tables/layout.ts'

export type NodeStatements = ReturnType<typeof nodeStatementsOf>

export function nodeStatementsOf(name: string) {
  const s = quotedSchema(name)
  return {
    enter: {
      name: 'parley_enter',
      text: `INSERT INTO ${s}.node (name, boot, beat, dead, record) VALUES ($1, $2, 1, false, $3) ON CONFLICT (name) DO NOTHING`,
    },
    /** Compare and set: who was written dead in between gets no row. */
    beat: {
      name: 'parley_beat',
      text: `UPDATE ${s}.node SET beat = beat + 1, record = $3 WHERE boot = $1 AND beat = $2::bigint AND NOT dead RETURNING beat`,
    },
    nodes: { name: 'parley_nodes', text: `SELECT boot, beat, dead, record FROM ${s}.node ORDER BY name` },
    /** Only if it has not moved since it was seen: no row where it lives after all. */
    bury: {
      name: 'parley_bury',
      text: `UPDATE ${s}.node SET dead = true WHERE boot = $1 AND beat = $2::bigint AND NOT dead RETURNING boot`,
    },
    leave: { name: 'parley_leave', text: `DELETE FROM ${s}.node WHERE boot = $1` },
    /** A dead one that owns nothing any more. */
    forget: { name: 'parley_forget', text: `DELETE FROM ${s}.node WHERE boot = $1 AND dead` },
    token: { name: 'parley_token', text: `SELECT value FROM ${s}.meta WHERE name = 'node_token'` },
    /** The first one that is offered is kept. */
    offer: {
      name: 'parley_offer',
      text: `INSERT INTO ${s}.meta (name, value) VALUES ('node_token', $1) ON CONFLICT (name) DO NOTHING`,
    },
  }
}
