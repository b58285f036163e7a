/** The errors of sessions: rows of the catalogue. */
import { INTERNAL, INVALID_PARAMS, INVALID_REQUEST, NOT_FOUND, row } from '../row.ts'

export const sessionRows = {
  SESSION_NOT_ATTACHED: row<{ session: string }>(
    NOT_FOUND,
    false,
    (d) => `This connection has not opened session ${d.session}. Load or resume it first.`,
  ),
  SESSION_CLOSED: row<{ session: string }>(
    INVALID_REQUEST,
    false,
    (d) => `Session ${d.session} is closed. Load or resume it to continue.`,
  ),
  SERVERS_TOO_MANY: row<{ found: number; most: number }>(
    INVALID_PARAMS,
    false,
    (d) =>
      `A session can have at most ${d.most} MCP servers from its clients; with these it would have ${d.found}. Name fewer, or use one server that offers the tools of several.`,
  ),
  SESSION_CWD_DIFFERS: row<{ session: string; cwd: string; given: string }>(
    INVALID_PARAMS,
    false,
    (d) => `Session ${d.session} belongs to ${d.cwd}, not to ${d.given}. Open it with its own cwd.`,
  ),
  TITLE_INVALID: row<{ limit: number }>(
    INVALID_PARAMS,
    false,
    (d) => `A title is one line of 1 to ${d.limit} characters, none of them a control character.`,
  ),
  FORK_POINT_UNKNOWN: row<{ session: string; at: number; head: number }>(
    INVALID_PARAMS,
    false,
    (d) => `Session ${d.session} cannot be forked at entry ${d.at}. Its entries are 1 to ${d.head}.`,
  ),
  QUEUE_FULL: row<{ session: string; limit: number }>(
    INVALID_REQUEST,
    true,
    (d) => `Session ${d.session} already has ${d.limit} prompts waiting. Wait for one to end, or cancel.`,
  ),
  TURN_INTERRUPTED: row<{ session: string }>(
    INTERNAL,
    true,
    (d) =>
      `The turn was interrupted because the server stopped. Everything up to then is stored in session ${d.session}; prompt again to continue.`,
  ),
  TURN_OVER: row<{ turn: string; session: string }>(
    INTERNAL,
    false,
    (d) => `Turn ${d.turn} of session ${d.session} is over; nothing can be added to it.`,
  ),
  PERMISSION_UNKNOWN: row<{ request: string }>(
    INVALID_PARAMS,
    false,
    (d) => `Permission request ${d.request} is not open; it was answered or withdrawn before.`,
  ),
  PERMISSION_OPTION_UNKNOWN: row<{ option: string; request: string; offered: string }>(
    INVALID_PARAMS,
    false,
    (d) => `Permission request ${d.request} does not offer ${d.option}. It offers: ${d.offered}.`,
  ),
  MODE_UNKNOWN: row<{ mode: string; known: string }>(
    INVALID_PARAMS,
    false,
    (d) => `This session has no mode ${JSON.stringify(d.mode)}; there are: ${d.known}.`,
  ),
  CONFIG_OPTION_UNKNOWN: row<{ option: string }>(
    INVALID_PARAMS,
    false,
    (d) => `This session has no option ${JSON.stringify(d.option)}. Choose one of its configOptions.`,
  ),
  CONFIG_VALUE_UNKNOWN: row<{ option: string; value: string }>(
    INVALID_PARAMS,
    false,
    (d) => `The option ${d.option} cannot be ${JSON.stringify(d.value)}. Choose one of its values.`,
  ),
  SCRIPT_INVALID: row<{ path: string; line: number; reason: string }>(
    INVALID_PARAMS,
    false,
    (d) => `Line ${d.line} of the script ${d.path} is invalid: ${d.reason}.`,
  ),
  SCRIPT_UNREADABLE: row<{ path: string; reason: string }>(
    INVALID_PARAMS,
    false,
    (d) => `The script ${d.path} cannot be read: ${d.reason}.`,
  ),
  AGENT_UNKNOWN: row<{ agent: string; candidates?: string }>(
    INVALID_PARAMS,
    false,
    (d) =>
      `There is no agent ${JSON.stringify(d.agent)}. Name guide, model, model:PROVIDER:NAME, script: and the absolute path of a file, or an external agent: ${d.candidates ?? 'parley agents ls lists them'}.`,
  ),
  MODEL_NONE: row(
    INVALID_PARAMS,
    false,
    () =>
      'No model is available: no provider has a key, and no model server runs on this machine. parley models lists what each provider needs; --agent guide needs no model.',
  ),
  AGENT_FAILED: row<{ reason: string }>(INTERNAL, true, (d) => `The agent failed: ${d.reason}`),
  SESSION_AMBIGUOUS: row<{ prefix: string; count: number }>(
    INVALID_PARAMS,
    false,
    (d) => `${d.count} sessions begin with ${d.prefix}. Give more of the id; parley ls shows them.`,
  ),

  // Search, export and import
  SEARCH_UNAVAILABLE: row<{ reason: string }>(
    INTERNAL,
    true,
    (d) => `Sessions cannot be searched now: ${d.reason}. Nothing was searched. Try again.`,
  ),
  UPLOAD_UNKNOWN: row(
    INVALID_PARAMS,
    false,
    () => 'The server has no such upload, or no longer. Import the file again.',
  ),
  UPLOADS_FULL: row<{ mebibytes: number }>(
    INTERNAL,
    true,
    (d) =>
      `Files that are imported at the same time may have ${d.mebibytes} MiB together. Copy the file to the machine of the server, and import it there.`,
  ),
  IMPORT_INVALID: row<{ path: string; line: number; reason: string }>(
    INVALID_PARAMS,
    false,
    (d) => `Line ${d.line} of ${d.path} cannot be imported: ${d.reason}. Nothing was imported.`,
  ),
  IMPORT_TOO_NEW: row<{ path: string; found: number; known: number }>(
    INVALID_PARAMS,
    false,
    (d) =>
      `${d.path} was exported by a newer Parley (format ${d.found}, this one knows ${d.known}). Update Parley; nothing was imported.`,
  ),
  IMPORT_UNREADABLE: row<{ path: string; reason: string }>(
    INVALID_PARAMS,
    false,
    (d) => `${d.path} cannot be read: ${d.reason}. Nothing was imported.`,
  ),
  SESSION_EXISTS: row<{ session: string }>(
    INVALID_REQUEST,
    false,
    (d) => `Session ${d.session} exists already. Import without --keep-id, or delete that session first.`,
  ),
  EXPORT_UNWRITABLE: row<{ path: string; reason: string }>(
    INTERNAL,
    true,
    (d) => `The export ${d.path} cannot be written: ${d.reason}.`,
  ),
}
