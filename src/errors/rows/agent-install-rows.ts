/** What can go wrong when an external agent is found or installed. */
import { INTERNAL, INVALID_PARAMS, row } from '../row.ts'

export const agentInstallRows = {
  AGENT_NOT_INSTALLED: row<{ agent: string; add: string }>(
    INVALID_PARAMS,
    false,
    (d) => `The agent ${JSON.stringify(d.agent)} is not on this machine. Type: parley agents add ${d.add}`,
  ),
  AGENT_NODE_OLD: row<{ agent: string; wanted: string }>(
    INVALID_PARAMS,
    false,
    (d) =>
      `The agent ${JSON.stringify(d.agent)} needs Node ${d.wanted} or later, and none is on this machine. Install one, or type: parley agents add node`,
  ),
  AGENT_REGISTRY: row<{ url: string; reason: string }>(
    INTERNAL,
    true,
    (d) =>
      `The registry of agents at ${d.url} did not answer: ${d.reason}. Agents that Parley knows need no registry; parley agents ls lists them.`,
  ),
  AGENT_INSTALL: row<{ agent: string; reason: string }>(
    INTERNAL,
    true,
    (d) => `The agent ${JSON.stringify(d.agent)} was not installed: ${d.reason}`,
  ),
  AGENT_VERSION: row<{ agent: string; version: string }>(
    INVALID_PARAMS,
    false,
    (d) =>
      `${JSON.stringify(d.version)} is not an exact version of ${d.agent}. Write one like ${d.agent}@1.2.3, or none for the usual one.`,
  ),
  AGENT_LOGIN_UNKNOWN: row<{ agent: string; methods: string }>(
    INVALID_PARAMS,
    false,
    (d) => `Name the way to log in, as in parley agents login ${d.agent} METHOD. The agent offers: ${d.methods}.`,
  ),
  AGENT_LOGIN_ABSENT: row<{ agent: string }>(
    INVALID_PARAMS,
    false,
    (d) => `${d.agent} offers no login to other programs. Log in with its own command, then prompt again.`,
  ),
}
