/** The errors of external agents, which run as processes of their own: rows of the catalogue. */
import { AUTH_REQUIRED, INTERNAL, INVALID_PARAMS, row, storingDetails } from '../row.ts'

/** A way to log in to an agent, as the agent itself offers it. */
export interface LoginOffer {
  readonly id: string
  readonly name: string
  readonly description?: string
  readonly type: string
}

export const agentRows = {
  AGENT_REFUSED: row<{ agent: string; method: string; reason: string }>(
    INTERNAL,
    false,
    (d) => `${d.agent} refused ${d.method}: ${d.reason}`,
  ),
  AGENT_SIGN_IN: row<{ agent: string; reason: string }>(
    INTERNAL,
    false,
    (d) => `${d.agent} requires you to sign in first: ${d.reason} Do that with its own command, then try again.`,
  ),
  AGENT_NOT_ALLOWED: row<{ agent: string; reason: string }>(
    INTERNAL,
    false,
    (d) => `The agent ${JSON.stringify(d.agent)} may not be started: ${d.reason}.`,
  ),
  AGENT_GONE: row<{ agent: string; reason: string }>(
    INTERNAL,
    true,
    (d) => `${d.agent} ended (${d.reason}) before its turn was over. Its output up to then is above.`,
  ),
  AGENT_START_FAILED: row<{ agent: string; step: string; reason: string; advice: string }>(
    INTERNAL,
    true,
    (d) => `${d.agent} could not be started: ${d.step} failed (${d.reason}).${d.advice}`,
  ),
  AGENT_STUCK: row<{ agent: string; step: string; seconds: number; said: string; advice: string }>(
    INTERNAL,
    true,
    (d) => `${d.agent} has said nothing for ${d.seconds} s and did not answer ${d.step}${d.said}.${d.advice}`,
  ),
  AGENT_STALLED: row<{ agent: string; seconds: number; said: string }>(
    INTERNAL,
    true,
    (d) =>
      `${d.agent} has said nothing for ${d.seconds} s and was stopped, because stall_minutes says so${d.said}. Tool calls that had begun may have run. Prompt again to continue.`,
  ),
  AGENT_PROTOCOL: row<{ agent: string; found: string; wanted: number }>(
    INTERNAL,
    false,
    (d) =>
      `${d.agent} answered initialize with ${d.found} of the Agent Client Protocol; Parley speaks version ${d.wanted} with it. Update the older of the two.`,
  ),
  AGENT_LOGIN_NEEDED: storingDetails(
    row<{ agent: string; methods: readonly LoginOffer[] }>(
      AUTH_REQUIRED,
      true,
      (d) =>
        `${d.agent} needs you to log in${loginNames(d.methods)}. Type: parley agents login ${d.agent}. The session is kept; prompt again after that.`,
    ),
  ),
  AGENT_SESSION_BUSY: row<{ agent: string; id: string }>(
    INTERNAL,
    true,
    (d) =>
      `${d.agent} has its session ${d.id} open elsewhere, and another process cannot use it meanwhile. Close it there, then prompt again.`,
  ),
  AGENT_OUTPUT_TOO_LARGE: row<{ agent: string; limit: number }>(
    INTERNAL,
    false,
    (d) => `${d.agent} wrote a line longer than ${d.limit} bytes and was stopped. Its output up to then is above.`,
  ),
  AGENT_IMPORT: row<{ agent: string; reason: string }>(
    INTERNAL,
    false,
    (d) => `The sessions of ${d.agent} cannot be imported: ${d.reason}.`,
  ),
  AGENT_CRASHES: row<{ agent: string; failures: number; seconds: number; reason: string }>(
    INTERNAL,
    true,
    (d) =>
      `${d.agent} failed ${d.failures} times in a row. Prompt again in ${d.seconds} s; Parley does not start it before then. The last time: ${d.reason}`,
  ),

  // Finding and installing one
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
} as const

/** Names that a sentence still can be read with. */
const MAX_NAMES = 5

/** The document of all errors has the name of the detail in its place. */
function loginNames(methods: readonly LoginOffer[] | string): string {
  if (typeof methods === 'string') return ` (${methods})`
  const names = methods.slice(0, MAX_NAMES).map(({ name }) => name)
  return names.length === 0 ? '' : ` (${names.join(', ')})`
}
