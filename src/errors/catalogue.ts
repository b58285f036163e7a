/** Every error that Parley can tell anyone: its code, its sentence, its JSON-RPC code, and whether trying again may help. */
import { docsRows } from './docs-rows.ts'
import { modelRows } from './model-rows.ts'
import { AUTH_REQUIRED, CANCELLED, INTERNAL, INVALID_PARAMS, INVALID_REQUEST, NOT_FOUND, row } from './row.ts'

export const catalogue = {
  // The journal
  JOURNAL_CONFLICT: row<{ session: string; expected: number; found: number }>(
    INTERNAL,
    true,
    (d) =>
      `Another server wrote to session ${d.session} first (expected ${d.expected}, found ${d.found}). Reload it and try again.`,
  ),
  JOURNAL_FULL: row<{ path: string }>(
    INTERNAL,
    true,
    (d) =>
      `The disk is full, so nothing more can be stored in ${d.path}. What was stored is safe; free some space and try again.`,
  ),
  JOURNAL_IO: row<{ path: string; reason: string }>(
    INTERNAL,
    true,
    (d) => `The journal ${d.path} could not be read or written: ${d.reason}. Check the disk and its permissions.`,
  ),
  JOURNAL_CORRUPT: row<{ path: string; reason: string }>(
    INTERNAL,
    false,
    (d) => `The journal ${d.path} is damaged (${d.reason}). Parley left it untouched; restore a copy or move it away.`,
  ),
  JOURNAL_FOREIGN: row<{ path: string }>(
    INTERNAL,
    false,
    (d) => `${d.path} is not a Parley journal. Parley left it untouched; move it away or set PARLEY_HOME elsewhere.`,
  ),
  JOURNAL_TOO_NEW: row<{ path: string; found: number; known: number }>(
    INTERNAL,
    false,
    (d) =>
      `The journal ${d.path} was written by a newer Parley (format ${d.found}, this one knows ${d.known}). Update Parley; the file was left untouched.`,
  ),
  JOURNAL_CLOSED: row(
    INTERNAL,
    true,
    () => 'The journal is closed because the server is stopping. Start it again and retry.',
  ),
  STATE_IN_USE: row<{ path: string; pid: number | null }>(
    INTERNAL,
    true,
    (d) =>
      `Another Parley${d.pid === null ? '' : ` (pid ${d.pid})`} owns ${d.path}. Stop it first, or set PARLEY_HOME to another directory.`,
  ),

  // The server process
  SERVER_START_FAILED: row<{ log: string; reason: string }>(
    INTERNAL,
    true,
    (d) => `The Parley server could not be started: ${d.reason} Its log is ${d.log}.`,
  ),
  SERVER_ABSENT: row<{ socket: string }>(
    INTERNAL,
    true,
    (d) => `No Parley server is running: nobody listens on ${d.socket}. Start one with: parley serve`,
  ),
  SERVER_SILENT: row<{ pid: number | null }>(
    INTERNAL,
    true,
    (d) =>
      `The Parley server${d.pid === null ? '' : ` (pid ${d.pid})`} does not respond. Give it time, or end it with kill -9; what was said is kept.`,
  ),
  SERVER_STOPPING: row(
    INTERNAL,
    true,
    () => 'The server is stopping and takes no new work. What was said is kept; try again in a moment.',
  ),
  SERVER_RESTARTED: row<{ method: string }>(
    INTERNAL,
    true,
    (d) => `The server was restarted before it answered ${d.method}, which may have been done. Look, then try again.`,
  ),
  SERVER_LOST: row<{ reason: string }>(
    INTERNAL,
    true,
    (d) => `The Parley server cannot be reached: ${d.reason}. What was said is kept; try again.`,
  ),
  SOCKET_UNUSABLE: row<{ path: string; reason: string }>(
    INTERNAL,
    false,
    (d) => `The socket ${d.path} cannot be used: ${d.reason}.`,
  ),

  // Sessions
  SESSION_NOT_FOUND: row<{ session: string }>(
    NOT_FOUND,
    false,
    (d) => `There is no session ${d.session}. List the sessions to see which exist.`,
  ),
  SESSION_NOT_ATTACHED: row<{ session: string }>(
    NOT_FOUND,
    false,
    (d) => `This connection has not opened session ${d.session}. Load or resume it first.`,
  ),
  SESSION_CLOSED: row<{ session: string }>(
    INVALID_REQUEST,
    false,
    (d) => `Session ${d.session} is closed. Load or resume it to go on.`,
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
    (d) => `Session ${d.session} can be forked at one of its entries, which are 1 to ${d.head}, not at ${d.at}.`,
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
      `The turn was interrupted because the server stopped. What was said is kept in session ${d.session}; prompt again to go on.`,
  ),
  TURN_OVER: row<{ turn: string; session: string }>(
    INTERNAL,
    false,
    (d) => `Turn ${d.turn} of session ${d.session} is over; nothing can be added to it.`,
  ),
  PERMISSION_UNKNOWN: row<{ request: string }>(
    INVALID_PARAMS,
    false,
    (d) => `Nobody is waiting for an answer to permission request ${d.request}; it was answered or withdrawn before.`,
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
    (d) => `Line ${d.line} of the script ${d.path} cannot be played: ${d.reason}.`,
  ),
  SCRIPT_UNREADABLE: row<{ path: string; reason: string }>(
    INVALID_PARAMS,
    false,
    (d) => `The script ${d.path} cannot be read: ${d.reason}.`,
  ),
  AGENT_UNKNOWN: row<{ agent: string }>(
    INVALID_PARAMS,
    false,
    (d) =>
      `There is no agent ${JSON.stringify(d.agent)}. Name guide, model, model:PROVIDER:NAME, or script: and the absolute path of a file.`,
  ),
  MODEL_NONE: row(
    INVALID_PARAMS,
    false,
    () =>
      'There is no model to answer: no provider has a key, and none is served on this machine. parley models says what each one lacks; --agent guide needs none.',
  ),
  AGENT_FAILED: row<{ reason: string }>(INTERNAL, true, (d) => `The agent failed: ${d.reason}`),
  SESSION_AMBIGUOUS: row<{ prefix: string; count: number }>(
    INVALID_PARAMS,
    false,
    (d) => `${d.count} sessions begin with ${d.prefix}. Give more of its id; parley ls shows them.`,
  ),

  // What a client hears from the other side
  SERVER_STOPPED: row(
    INTERNAL,
    true,
    () => 'The server was stopped. What was said until then is kept; the next prompt starts it again.',
  ),
  PEER_REFUSED: row<{ method: string; code: string; reason: string }>(INTERNAL, false, (d) => d.reason),
  CONNECTION_LOST: row<{ method: string }>(
    INTERNAL,
    true,
    (d) => `The connection ended before ${d.method} was answered. What was said until then is kept; try again.`,
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
    (d) => `The agent's answer to ${d.method} cannot be used: ${d.reason}. Update the agent, or use another.`,
  ),
  SETTING_UNKNOWN: row<{ id: string; known: string }>(
    INVALID_PARAMS,
    false,
    (d) => `The agent has no setting ${d.id}. It has: ${d.known}.`,
  ),
  SETTING_IMPOSSIBLE: row<{ id: string; value: string; allowed: string }>(
    INVALID_PARAMS,
    false,
    (d) => `The setting ${d.id} cannot be ${d.value}. It can be: ${d.allowed}.`,
  ),
  AGENT_REFUSED: row<{ agent: string; method: string; reason: string }>(
    INTERNAL,
    false,
    (d) => `${d.agent} refused ${d.method}: ${d.reason}`,
  ),
  AGENT_SIGN_IN: row<{ agent: string; reason: string }>(
    INTERNAL,
    false,
    (d) => `${d.agent} wants you to sign in first: ${d.reason} Do that with its own command, then try again.`,
  ),
  AGENT_GONE: row<{ agent: string; reason: string }>(
    INTERNAL,
    true,
    (d) => `${d.agent} has ended (${d.reason}) before its turn was over. What it said until then stands above.`,
  ),
  AGENT_SILENT: row<{ command: string; seconds: number }>(
    INTERNAL,
    true,
    (d) =>
      `${d.command} has not answered initialize within ${d.seconds} s. Check that the command is an agent that speaks ACP on its pipes.`,
  ),
  CAPABILITY_MISSING: row<{ method: string }>(
    INTERNAL,
    false,
    (d) => `The agent does not offer ${d.method}, so it was not asked. Use an agent that does.`,
  ),

  // Requests
  PARAMS_INVALID: row<{ method: string; reason: string }>(
    INVALID_PARAMS,
    false,
    (d) => `The parameters of ${d.method} are wrong: ${d.reason}.`,
  ),
  NOT_INITIALIZED: row<{ method: string }>(
    INVALID_REQUEST,
    false,
    (d) => `${d.method} came before initialize. Send initialize first.`,
  ),
  AUTH_REQUIRED: row<{ method: string }>(
    AUTH_REQUIRED,
    false,
    (d) =>
      `${d.method} needs a token, and this connection has given none. Set PARLEY_TOKEN, or call authenticate first.`,
  ),
  AUTH_FAILED: row(
    AUTH_REQUIRED,
    false,
    () => 'The token is not the one that this server demands. Give it as _meta["parley/token"] of authenticate.',
  ),
  AUTH_METHOD_UNKNOWN: row<{ id: string }>(
    INVALID_PARAMS,
    false,
    (d) =>
      `There is no way to authenticate called ${JSON.stringify(d.id)}. The answer to initialize names those that there are.`,
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
  MESSAGE_TOO_LONG: row<{ limit: number }>(
    INVALID_REQUEST,
    false,
    (d) => `A message was longer than ${d.limit} bytes and was not read. Send less at once.`,
  ),
  CURSOR_INVALID: row<{ cursor: string }>(
    INVALID_PARAMS,
    false,
    (d) => `The cursor ${d.cursor} is not one that this server gave. List again from the beginning.`,
  ),
  CURSOR_BEYOND: row<{ session: string; after: number; head: number }>(
    INVALID_PARAMS,
    false,
    (d) => `Session ${d.session} has ${d.head} entries and nothing after entry ${d.after}. Load it from the beginning.`,
  ),
  INTERNAL_ERROR: row(INTERNAL, true, () => 'Something went wrong inside Parley. The log says what.'),

  // Tools and MCP servers
  TOOL_UNKNOWN: row<{ tool: string }>(
    INVALID_PARAMS,
    false,
    (d) => `There is no tool ${d.tool} now. List the tools to see which are.`,
  ),
  TOOL_ARGUMENTS: row<{ tool: string; reason: string }>(
    INVALID_PARAMS,
    false,
    (d) => `The arguments do not fit tool ${d.tool}: ${d.reason}. It was not called.`,
  ),
  TOOL_TIMEOUT: row<{ tool: string; ms: number }>(
    INTERNAL,
    false,
    (d) => `Tool ${d.tool} did not answer within ${d.ms} ms and was cancelled; it may have run.`,
  ),
  TOOL_CANCELLED: row<{ tool: string }>(-32800, false, (d) => `Tool ${d.tool} was cancelled; it may have run in part.`),
  TOOL_NOT_RUN: row<{ tool: string; reason: string }>(
    INTERNAL,
    true,
    (d) => `Tool ${d.tool} was not run: ${d.reason}.`,
  ),
  TOOL_LOST: row<{ tool: string; reason: string }>(
    INTERNAL,
    false,
    (d) => `The answer of tool ${d.tool} was lost: ${d.reason}. It may have run.`,
  ),
  TOOL_FAILED: row<{ reason: string }>(INTERNAL, false, (d) => d.reason),
  MCP_CONNECT: row<{ server: string; reason: string }>(
    INTERNAL,
    true,
    (d) => `MCP server ${d.server} could not be connected: ${d.reason}.`,
  ),
  MCP_LOGIN: row<{ server: string; word: string }>(
    INTERNAL,
    true,
    (d) => `MCP server ${d.server} wants you to log in. Run: parley mcp login ${d.word}`,
  ),
  MCP_LOGIN_FAILED: row<{ server: string; reason: string }>(
    INTERNAL,
    true,
    (d) => `Nobody is logged in to ${d.server}: ${d.reason}. Log in again.`,
  ),
  MCP_REQUEST: row<{ server: string; what: string; reason: string }>(
    INTERNAL,
    true,
    (d) => `MCP server ${d.server} did not give ${d.what}: ${d.reason}.`,
  ),

  // Processes
  COMMAND_NOT_FOUND: row<{ command: string }>(
    INVALID_PARAMS,
    false,
    (d) => `The command ${d.command} was not found. Install it, or give its absolute path.`,
  ),
  COMMAND_NOT_EXECUTABLE: row<{ command: string }>(
    INVALID_PARAMS,
    false,
    (d) => `${d.command} is there but may not be executed. Check its permissions.`,
  ),
  PROCESS_SPAWN: row<{ command: string; reason: string }>(
    INTERNAL,
    true,
    (d) => `${d.command} could not be started: ${d.reason}.`,
  ),
  PROCESS_GONE: row<{ command: string; reason: string }>(
    INTERNAL,
    true,
    (d) => `${d.command} has ended (${d.reason}).`,
  ),

  // Search, export and import of sessions
  SEARCH_UNAVAILABLE: row<{ reason: string }>(
    INTERNAL,
    true,
    (d) => `Sessions cannot be searched now: ${d.reason}. Nothing was looked up; try again.`,
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
    (d) => `There is a session ${d.session} already. Import without --keep-id, or delete that session first.`,
  ),
  EXPORT_UNWRITABLE: row<{ path: string; reason: string }>(
    INTERNAL,
    true,
    (d) => `The export ${d.path} cannot be written: ${d.reason}.`,
  ),

  ...modelRows,
  ...docsRows,

  // Directories and configuration
  PATH_NOT_ABSOLUTE: row<{ what: string; path: string }>(
    INVALID_PARAMS,
    false,
    (d) => `${d.what} must be an absolute path, not ${JSON.stringify(d.path)}.`,
  ),
  DIRECTORY_MISSING: row<{ what: string; path: string }>(
    INVALID_PARAMS,
    false,
    (d) => `${d.what} ${d.path} is not a directory that can be read.`,
  ),
  FILE_MISSING: row<{ path: string }>(NOT_FOUND, false, (d) => `There is no file ${JSON.stringify(d.path)}.`),
  FILE_UNUSABLE: row<{ path: string; reason: string }>(
    INTERNAL,
    false,
    (d) => `The file ${JSON.stringify(d.path)} cannot be used: ${d.reason}.`,
  ),
  TERMINAL_UNKNOWN: row<{ terminal: string }>(
    NOT_FOUND,
    false,
    (d) => `There is no terminal ${JSON.stringify(d.terminal)}, or it was released.`,
  ),
  CONFIG_INVALID: row<{ key: string; value: string; reason: string }>(
    INVALID_PARAMS,
    false,
    (d) => `The setting ${d.key} cannot be ${d.value}: ${d.reason}.`,
  ),
  CONFIG_UNREADABLE: row<{ path: string; reason: string }>(
    INVALID_PARAMS,
    false,
    (d) => `The settings ${d.path} cannot be read: ${d.reason}. Correct the file, or move it away.`,
  ),
} as const

export type ErrorCode = keyof typeof catalogue

/** What the sentence of `Code` is made of. Never a secret: details reach clients and logs. */
export type ErrorDetails<Code extends ErrorCode> = Parameters<(typeof catalogue)[Code]['sentence']>[0]
