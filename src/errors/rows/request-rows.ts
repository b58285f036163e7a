/** The errors of messages and requests of a client: rows of the catalogue. */
import { CANCELLED, INVALID_PARAMS, INVALID_REQUEST, row } from '../row.ts'

export const requestRows = {
  NOT_INITIALIZED: row<{ method: string }>(
    INVALID_REQUEST,
    false,
    (d) => `${d.method} came before initialize. Send initialize first.`,
  ),
  REQUEST_CANCELLED: row<{ method: string }>(CANCELLED, false, (d) => `${d.method} was cancelled.`),
  METHOD_UNKNOWN: row<{ method: string }>(-32601, false, (d) => `There is no method ${d.method}.`),
  MESSAGE_MALFORMED: row<{ reason: string }>(
    -32700,
    false,
    (d) => `A line was not valid JSON: ${d.reason}. Send one JSON-RPC message per line.`,
  ),
  MESSAGE_INVALID: row<{ reason: string }>(
    INVALID_REQUEST,
    false,
    (d) => `A message was not a JSON-RPC request, notification or response: ${d.reason}.`,
  ),
  UNFINISHED_LIMIT: row<{ limit: number }>(
    INVALID_REQUEST,
    true,
    (d) =>
      `The unfinished messages of all clients together exceeded ${d.limit} bytes and this connection had the longest, so it was closed. Connect again, and send the message in one piece.`,
  ),
  MESSAGE_TOO_LARGE: row<{ reason: string }>(
    INVALID_REQUEST,
    false,
    (d) => `A message was not read, because ${d.reason}. Send a smaller one.`,
  ),
  CURSOR_INVALID: row<{ cursor: string }>(
    INVALID_PARAMS,
    false,
    (d) => `The cursor ${d.cursor} is not from this server. List again from the beginning.`,
  ),
  CURSOR_BEYOND: row<{ session: string; after: number; head: number }>(
    INVALID_PARAMS,
    false,
    (d) => `Session ${d.session} has ${d.head} entries and nothing after entry ${d.after}. Load it from the beginning.`,
  ),
}
