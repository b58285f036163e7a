/** The errors of the server's process, of where it listens and of what sets it up: rows of the catalogue. */
import { INTERNAL, INVALID_PARAMS, row } from '../row.ts'

export const serverRows = {
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
  SOCKET_UNUSABLE: row<{ path: string; reason: string }>(
    INTERNAL,
    false,
    (d) => `The socket ${d.path} cannot be used: ${d.reason}.`,
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
}
