/** The errors of a cluster and its databases: rows of the catalogue. An `address` never has a password in it. */
import { INTERNAL, INVALID_PARAMS, row } from '../row.ts'

export const clusterRows = {
  CLUSTER_UNREACHABLE: row<{ address: string; reason: string }>(
    INTERNAL,
    true,
    (d) =>
      `The database of the cluster, ${d.address}, cannot be reached: ${d.reason}. What was stored is safe; try again once it answers.`,
  ),
  SESSION_ELSEWHERE: row<{ session: string; node: string }>(
    INTERNAL,
    true,
    (d) =>
      `Session ${d.session} is on the node ${d.node} of the cluster, which is running. Ask a server of the cluster for it.`,
  ),
  NODE_ABSENT: row<{ node: string }>(
    INVALID_PARAMS,
    true,
    (d) => `No node ${d.node} is running and takes sessions. See parley cluster status, and try again.`,
  ),
  NODE_NAME_TAKEN: row<{ node: string }>(
    INVALID_PARAMS,
    false,
    (d) =>
      `Another node called ${d.node} serves this cluster and answers. Give this one another name with PARLEY_NODE, or stop that one.`,
  ),
  NO_NODE_SERVES: row<{ cwd: string; wanted: string }>(
    INVALID_PARAMS,
    false,
    (d) => `No running node of the cluster that takes sessions serves ${d.wanted}. See parley cluster status.`,
  ),
  NODE_SILENT: row<{ node: string; reason: string }>(
    INTERNAL,
    true,
    (d) =>
      `The node ${d.node}, which has the session, does not answer: ${d.reason}. Another node continues the session once that one is declared dead; try again.`,
  ),
  CLUSTER_ABSENT: row<{ address: string }>(
    INVALID_PARAMS,
    false,
    (d) => `There is no Parley cluster in ${d.address}. Make one with: parley cluster init --cluster ADDRESS`,
  ),
  CLUSTER_FOREIGN: row<{ address: string; found: string; wanted: string }>(
    INVALID_PARAMS,
    false,
    (d) =>
      `${d.address} is database ${d.found}, and it was named as database ${d.wanted}. Name all databases of one cluster, in the order in which they were made.`,
  ),
  PG_REFUSED: row<{ address: string; reason: string }>(
    INVALID_PARAMS,
    false,
    (d) =>
      `The database of the cluster, ${d.address}, refuses: ${d.reason}. Check the role, its password and its rights, and the name of the database.`,
  ),
  PG_UNSAFE: row<{ address: string; reason: string }>(
    INVALID_PARAMS,
    false,
    (d) =>
      `Parley stores nothing in ${d.address}: ${d.reason}. Change that setting of the server, or set cluster_unsafe to accept the loss.`,
  ),
  PG_TOO_WEAK: row<{ address: string; durability: string }>(
    INVALID_PARAMS,
    false,
    (d) =>
      `Parley stores nothing in ${d.address}: what it acknowledges is ${d.durability}, and cluster_min_durability asks for replicated. Name a synchronous standby in synchronous_standby_names of the server.`,
  ),
  PG_UNFIT: row<{ address: string; reason: string }>(
    INVALID_PARAMS,
    false,
    (d) => `Parley cannot use ${d.address}: ${d.reason}.`,
  ),
}
