/** Every error that Parley can report: its code, its sentence, its JSON-RPC code, and whether trying again may help. */
import { agentInstallRows } from './rows/agent-install-rows.ts'
import { agentRows } from './rows/agent-rows.ts'
import { clientRows } from './rows/client-rows.ts'
import { docsRows } from './rows/docs-rows.ts'
import { modelRows } from './rows/model-rows.ts'
import { AUTH_REQUIRED, CANCELLED, INTERNAL, INVALID_PARAMS, INVALID_REQUEST, NOT_FOUND, row } from './row.ts'
import { sessionRows } from './rows/session-rows.ts'
import { toolRows } from './rows/tool-rows.ts'

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
  JOURNAL_TOO_OLD: row<{ path: string }>(
    INTERNAL,
    false,
    (d) =>
      `The journal ${d.path} was written by a development version of Parley, before journal format 1, and cannot be read. Move it away; the file was left untouched.`,
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
  SERVICE_MANAGER_ABSENT: row<{ reason: string }>(
    INTERNAL,
    false,
    (d) =>
      `No service manager of this user answers: ${d.reason}. parley serve runs the server in the foreground; parley service install --print prints the file for a service manager.`,
  ),
  SERVICE_COMMAND_FAILED: row<{ command: string; reason: string }>(
    INTERNAL,
    true,
    (d) => `${d.command} failed: ${d.reason}. Fix that, then type parley service install again.`,
  ),
  BUNDLE_UNWRITTEN: row<{ path: string; reason: string }>(
    INVALID_PARAMS,
    false,
    (d) => `${d.path} could not be written: ${d.reason}. Name a file that is not there yet.`,
  ),
  SETUP_FILE_UNREADABLE: row<{ path: string; reason: string }>(
    INVALID_PARAMS,
    false,
    (d) =>
      `${d.path} cannot be changed safely: ${d.reason}. Fix it, or copy the lines of parley setup --print into it yourself.`,
  ),
  STATE_IN_USE: row<{ path: string; pid: number | null; node?: string }>(INTERNAL, true, (d) =>
    d.node !== undefined
      ? `The node ${d.node} (pid ${d.pid} there) serves the cluster in ${d.path}. Stop all of its nodes first.`
      : `Another Parley${d.pid === null ? '' : ` (pid ${d.pid})`} owns ${d.path}. Stop it first, or set PARLEY_HOME to another directory.`,
  ),
  STATE_NOT_PRIVATE: row<{ path: string; reason: string }>(
    INVALID_PARAMS,
    false,
    (d) => `The state directory ${d.path} cannot be used: ${d.reason}.`,
  ),

  // The server process
  SERVER_START_FAILED: row<{ log: string; reason: string }>(
    INTERNAL,
    true,
    (d) => `The Parley server could not be started: ${d.reason} Its log is ${d.log}.`,
  ),
  SERVER_CANNOT_START: row<{ log: string; reason: string }>(
    INTERNAL,
    false,
    (d) => `The Parley server cannot start here: ${d.reason} Its log is ${d.log}.`,
  ),
  SERVER_ABSENT: row<{ socket: string }>(
    INTERNAL,
    true,
    (d) =>
      `No Parley server is running: no process listens on ${d.socket}. Commands that need a server start it; to start it by hand: parley serve`,
  ),
  SERVER_SILENT: row<{ pid: number | null }>(
    INTERNAL,
    true,
    (d) =>
      `The Parley server${d.pid === null ? '' : ` (pid ${d.pid})`} does not respond. Give it time, or end it with kill -9; sessions are stored.`,
  ),
  SERVER_STOPPING: row(
    INTERNAL,
    true,
    () => 'The server is stopping and takes no new work. Sessions are stored; try again in a moment.',
  ),
  SERVER_RESTARTED: row<{ method: string }>(
    INTERNAL,
    true,
    (d) =>
      `The server was restarted before it answered ${d.method}, and may have done it. Check the result before retrying.`,
  ),
  SERVER_LOST: row<{ reason: string }>(
    INTERNAL,
    true,
    (d) => `The Parley server cannot be reached: ${d.reason}. Sessions are stored; try again.`,
  ),
  LISTEN_FAILED: row<{ address: string; reason: string }>(
    INTERNAL,
    false,
    (d) => `The server cannot listen on ${d.address}: ${d.reason}. Choose another address, or end what uses it.`,
  ),
  NEW_SESSIONS_LIMIT: row<{ seconds: number }>(
    INTERNAL,
    true,
    (d) =>
      `This credential has started too many sessions in a minute. Try again in ${d.seconds} s, or raise remote_sessions_per_minute on the server.`,
  ),
  SOCKET_UNUSABLE: row<{ path: string; reason: string }>(
    INTERNAL,
    false,
    (d) => `The socket ${d.path} cannot be used: ${d.reason}.`,
  ),

  // A cluster and its databases; `address` never has a password in it
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
  JOURNAL_WENT_BACK: row<{ session: string; had: number; found: number }>(
    INTERNAL,
    false,
    (d) =>
      `The database has lost the end of session ${d.session}: entry ${d.had} was stored, and the last one now is ${d.found}. A standby that was behind was promoted, or a backup restored. Load the session from the beginning.`,
  ),

  ...sessionRows,

  ...clientRows,

  ...agentRows,

  ...agentInstallRows,

  // Requests
  NOT_INITIALIZED: row<{ method: string }>(
    INVALID_REQUEST,
    false,
    (d) => `${d.method} came before initialize. Send initialize first.`,
  ),
  AUTH_REQUIRED: row<{ method: string }>(
    AUTH_REQUIRED,
    false,
    (d) =>
      `${d.method} requires a token, and this connection has sent none. Set PARLEY_CLIENT_TOKEN, or call authenticate first.`,
  ),
  ROLE_TOO_LOW: row<{ what: string; needed: string; role: string }>(
    INVALID_REQUEST,
    false,
    (d) =>
      `${d.what} needs the role ${d.needed}, and this connection has the role ${d.role}. On the server's machine, make a token with that role: parley token add NAME --role ${d.needed}`,
  ),
  DIRECTORY_FOREIGN: row<{ what: string; path: string }>(
    INVALID_PARAMS,
    false,
    (d) =>
      `${d.what} ${JSON.stringify(d.path)} has no session on the server yet, so only a token with the role admin may name it.`,
  ),
  SCOPE_TOO_NARROW: row<{ what: string }>(
    INVALID_REQUEST,
    false,
    (d) =>
      `${d.what} is outside of what this connection reaches: its credential is for some sessions or directories only.`,
  ),
  TOKEN_NAME_INVALID: row<{ name: string }>(
    INVALID_PARAMS,
    false,
    (d) =>
      `${d.name} cannot be the name of a token. A name has up to 64 letters, digits, dots, hyphens and underscores, and begins with a letter or a digit.`,
  ),
  TOKEN_NAME_TAKEN: row<{ name: string }>(
    INVALID_PARAMS,
    false,
    (d) => `There is a token ${d.name} already. Choose another name, or remove it first: parley token rm ${d.name}`,
  ),
  TOKEN_UNKNOWN: row<{ name: string }>(
    INVALID_PARAMS,
    false,
    (d) => `There is no token ${d.name}. List the tokens with: parley token ls`,
  ),
  TOKENS_UNUSABLE: row<{ path: string; reason: string }>(
    INTERNAL,
    false,
    (d) => `The credentials in ${d.path} cannot be used: ${d.reason}. Correct the file, or move it away.`,
  ),
  LISTENS_NOWHERE: row(
    INVALID_REQUEST,
    false,
    () => 'No server listens for other devices. Open a port on this machine with: parley web',
  ),
  SERVER_UNKNOWN: row<{ name: string }>(
    INVALID_PARAMS,
    false,
    (d) => `No server ${d.name} is known here. Log in to it first: parley login URL`,
  ),
  COMMAND_LOCAL: row<{ command: string; server: string; instead: string }>(
    INVALID_REQUEST,
    false,
    (d) =>
      `parley ${d.command} works on this machine alone, and ${d.server} is elsewhere. ${d.instead} For this machine, leave out --server and PARLEY_SERVER.`,
  ),
  CWD_ELSEWHERE: row<{ cwd: string; server: string }>(
    INVALID_PARAMS,
    false,
    (d) =>
      `There is no directory ${d.cwd} on the server ${d.server} that this connection may use. Say where it is there: parley acp --server ${d.server} --map ${d.cwd}=DIRECTORY_THERE`,
  ),
  DIRECTORY_THERE: row<{ reason: string; server: string }>(
    INVALID_PARAMS,
    false,
    (d) =>
      `${d.reason} Name one of the server ${d.server} with --cwd; its sessions and their directories: parley --server ${d.server} ls`,
  ),
  DEVICE_UNKNOWN: row<{ name: string }>(
    INVALID_PARAMS,
    false,
    (d) => `There is no device ${d.name}. List the devices with: parley devices ls`,
  ),
  DEVICE_NAME_INVALID: row<{ name: string }>(
    INVALID_PARAMS,
    false,
    (d) => `${d.name} cannot be the name of a device. A name has 1 to 64 characters, all of them visible.`,
  ),
  PUSH_SERVICE_UNKNOWN: row<{ host: string }>(
    INVALID_PARAMS,
    false,
    ({ host }) =>
      `Notifications are not sent to ${host}: Parley does not know it as a push service, or the key that the browser gave does not belong to it. The setting push_services names others.`,
  ),
  PAIRING_CODE_INVALID: row<{ reason: string }>(
    AUTH_REQUIRED,
    false,
    (d) => `This link cannot be used: ${d.reason}. On the server's machine, make a fresh one with: parley pair`,
  ),
  SHARE_UNKNOWN: row<{ name: string }>(
    INVALID_PARAMS,
    false,
    (d) => `There is no share link ${d.name}. List the links with: parley share ls`,
  ),
  AUTH_FAILED: row(
    AUTH_REQUIRED,
    false,
    () => 'Invalid token. Send the token of this server as _meta["parley/token"] of authenticate.',
  ),
  AUTH_METHOD_UNKNOWN: row<{ id: string }>(
    INVALID_PARAMS,
    false,
    (d) =>
      `There is no authentication method called ${JSON.stringify(d.id)}. The result of initialize lists the methods.`,
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

  ...toolRows,

  // Search, export and import of sessions
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
      `All files that are being imported may have ${d.mebibytes} MiB together. Copy the file to the machine of the server, and import it there.`,
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
    (d) => `${d.what} ${d.path} is not a readable directory.`,
  ),
  DIRECTORY_LEFT: row(
    INVALID_PARAMS,
    false,
    () => 'The current directory has been removed. Change to another one and try again.',
  ),
  FILE_MISSING: row<{ path: string }>(NOT_FOUND, false, (d) => `There is no file ${JSON.stringify(d.path)}.`),
  FILE_UNUSABLE: row<{ path: string; reason: string }>(
    INTERNAL,
    false,
    (d) => `The file ${JSON.stringify(d.path)} cannot be used: ${d.reason}.`,
  ),
  FILE_BUSY: row<{ path: string; seconds: number }>(
    INTERNAL,
    true,
    (d) =>
      `Another process has been changing ${d.path} for ${d.seconds} s. Try again; if that does not help, look for a Parley process that hangs.`,
  ),
  TERMINAL_UNKNOWN: row<{ terminal: string }>(
    NOT_FOUND,
    false,
    (d) => `There is no terminal ${JSON.stringify(d.terminal)}, or it was released.`,
  ),
  /** Without `value` where it may be a secret. */
  CONFIG_INVALID: row<{ key: string; value?: string; reason: string }>(
    INVALID_PARAMS,
    false,
    (d) => `The setting ${d.key} ${d.value === undefined ? 'is invalid' : `cannot be ${d.value}`}: ${d.reason}.`,
  ),
  CONFIG_UNREADABLE: row<{ path: string; reason: string }>(
    INVALID_PARAMS,
    false,
    (d) => `The settings ${d.path} cannot be read: ${d.reason}. Correct the file, or move it away.`,
  ),
} as const

export type ErrorCode = keyof typeof catalogue

/** The values in the sentence of `Code`. Never a secret: details reach clients and logs. */
export type ErrorDetails<Code extends ErrorCode> = Parameters<(typeof catalogue)[Code]['sentence']>[0]
