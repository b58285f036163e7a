/** The errors of credentials, of what they reach, and of servers elsewhere: rows of the catalogue. */
import { AUTH_REQUIRED, INTERNAL, INVALID_PARAMS, INVALID_REQUEST, row } from '../row.ts'

export const accessRows = {
  AUTH_REQUIRED: row<{ method: string }>(
    AUTH_REQUIRED,
    false,
    (d) =>
      `${d.method} requires a token, and this connection has sent none. Set PARLEY_CLIENT_TOKEN, or call authenticate first.`,
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
  ROLE_TOO_LOW: row<{ what: string; needed: string; role: string }>(
    INVALID_REQUEST,
    false,
    (d) =>
      `${d.what} needs the role ${d.needed}, and this connection has the role ${d.role}. On the server's machine, make a token with that role: parley token add NAME --role ${d.needed}`,
  ),
  SCOPE_TOO_NARROW: row<{ what: string }>(
    INVALID_REQUEST,
    false,
    (d) =>
      `${d.what} is outside of what this connection reaches: its credential is for some sessions or directories only.`,
  ),
  DIRECTORY_FOREIGN: row<{ what: string; path: string }>(
    INVALID_PARAMS,
    false,
    (d) =>
      `${d.what} ${JSON.stringify(d.path)} has no session on the server yet, so only a token with the role admin may name it.`,
  ),
  NEW_SESSIONS_LIMIT: row<{ seconds: number }>(
    INTERNAL,
    true,
    (d) =>
      `This credential has started too many sessions in a minute. Try again in ${d.seconds} s, or raise remote_sessions_per_minute on the server.`,
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
  TOKENS_UNCHANGED: row<{ path: string; reason: string }>(
    INTERNAL,
    true,
    (d) => `The credentials in ${d.path} stay as they were, for they cannot be written now: ${d.reason}.`,
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
  PUSH_SERVICE_UNKNOWN: row<{ host: string }>(
    INVALID_PARAMS,
    false,
    ({ host }) =>
      `Notifications are not sent to ${host}: Parley does not know it as a push service, or the key that the browser gave does not belong to it. The setting push_services names others.`,
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
      `parley ${d.command} works only on this machine, and ${d.server} is a remote server. ${d.instead} For this machine, leave out --server and PARLEY_SERVER.`,
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
      `${d.reason} Name a directory of the server ${d.server} with --cwd. To list its sessions with their directories: parley --server ${d.server} ls`,
  ),
}
