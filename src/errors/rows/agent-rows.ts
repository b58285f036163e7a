/** The errors of external agents, which run as processes of their own: rows of the catalogue. */
import { AUTH_REQUIRED, INTERNAL, row } from '../row.ts'

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
  AGENT_LOGIN_NEEDED: row<{ agent: string; methods: string }>(
    AUTH_REQUIRED,
    true,
    (d) =>
      `${d.agent} needs you to log in${d.methods}. Type: parley agents login ${d.agent}. The session is kept; prompt again after that.`,
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
      `${d.agent} failed ${d.failures} times in a row (${d.reason}). Parley starts it again in ${d.seconds} s at the earliest; prompt again then.`,
  ),
} as const
