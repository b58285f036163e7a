/** The errors that a client raises itself: rows of the catalogue. */
import { AUTH_REQUIRED, INTERNAL, INVALID_PARAMS, INVALID_REQUEST, NOT_FOUND, row } from '../row.ts'

export const clientRows = {
  SERVER_STOPPED: row(
    INTERNAL,
    true,
    () => 'The server was stopped. Everything up to then is stored; the next prompt starts it again.',
  ),
  PEER_REFUSED: row<{ method: string; code: string; reason: string }>(INTERNAL, false, (d) => d.reason),
  CONNECTION_LOST: row<{ method: string }>(
    INTERNAL,
    true,
    (d) => `The connection ended before ${d.method} was answered. Everything up to then is stored; try again.`,
  ),
  SERVER_REFUSED: row<{ server: string; reason: string }>(
    AUTH_REQUIRED,
    false,
    (d) => `The server ${d.server} refuses the connection: ${d.reason}`,
  ),
  PROTOCOL_UNSUPPORTED: row<{ found: string; known: number }>(
    INTERNAL,
    false,
    (d) =>
      `The agent speaks ${d.found} of the Agent Client Protocol, and this Parley speaks version ${d.known}. Update the older of the two.`,
  ),
  AGENT_ANSWER_INVALID: row<{ method: string; reason: string }>(
    INTERNAL,
    false,
    (d) => `The agent's answer to ${d.method} is invalid: ${d.reason}. Update the agent, or use another.`,
  ),
  SETTING_UNKNOWN: row<{ id: string; known: string }>(
    INVALID_PARAMS,
    false,
    (d) => `The agent has no option ${d.id}. It has: ${d.known}.`,
  ),
  SETTING_IMPOSSIBLE: row<{ id: string; value: string; allowed: string }>(
    INVALID_PARAMS,
    false,
    (d) => `The option ${d.id} cannot be ${d.value}. It can be: ${d.allowed}.`,
  ),
  DELEGATE_FAILED: row<{ reason: string }>(
    INTERNAL,
    false,
    (d) =>
      `This client could not show an update of the server: ${d.reason}. The session is stored; open it again, and report this as a bug of the client.`,
  ),
  AGENT_SILENT: row<{ method: string; seconds: number }>(
    INTERNAL,
    true,
    (d) =>
      `The agent has sent nothing for ${d.seconds} s and has not answered ${d.method}. Check that its command starts an agent that speaks ACP on stdin and stdout, and check its standard error.`,
  ),
  CAPABILITY_MISSING: row<{ method: string }>(
    INTERNAL,
    false,
    (d) => `The agent does not support ${d.method}. Use an agent that does.`,
  ),

  // A server raises these too.
  SESSION_NOT_FOUND: row<{ session: string }>(
    NOT_FOUND,
    false,
    (d) => `There is no session ${d.session}. List the sessions with: parley ls`,
  ),
  PARAMS_INVALID: row<{ method: string; reason: string }>(
    INVALID_PARAMS,
    false,
    (d) => `The parameters of ${d.method} are invalid: ${d.reason}.`,
  ),
  MESSAGE_TOO_LONG: row<{ limit: number }>(
    INVALID_REQUEST,
    false,
    (d) => `A message was longer than ${d.limit} bytes and was not read. Send a shorter one.`,
  ),
  INTERNAL_ERROR: row(INTERNAL, true, () => 'Internal error in Parley. The log has the details.'),
} as const
