/** The errors of document search: rows of the catalogue. */
import { INTERNAL, INVALID_PARAMS, row } from '../row.ts'

export const docsRows = {
  DOCS_INDEX_UNAVAILABLE: row<{ reason: string }>(
    INTERNAL,
    true,
    (d) => `The documents cannot be searched now: ${d.reason}. Nothing was searched. Try again.`,
  ),
  DOCS_DIRECTORY_GONE: row<{ directories: string }>(
    INTERNAL,
    true,
    (d) =>
      `Nothing can be searched because ${d.directories} does not exist any more. Put it back; Parley notices that by itself.`,
  ),
  DOCS_CHANGED: row(
    INVALID_PARAMS,
    true,
    () => 'The documents changed since that page was made. Search again without the cursor.',
  ),
  DOCUMENT_UNKNOWN: row<{ uri: string }>(
    INVALID_PARAMS,
    false,
    (d) => `There is no document ${d.uri} in the index. Search again and use the uri of a result.`,
  ),
  DOCUMENT_NOT_ALLOWED: row<{ file: string }>(
    INVALID_PARAMS,
    false,
    (d) =>
      `A permission rule excludes ${d.file} from document search. If the rule asks, call read_file with its path: that asks the user.`,
  ),
  DOCUMENT_SECTION_UNKNOWN: row<{ uri: string; section: string; sections: string }>(
    INVALID_PARAMS,
    false,
    (d) => `${d.uri} has no section "${d.section}". Its sections: ${d.sections}.`,
  ),
  DOCS_LISTEN: row<{ host: string; port: number; reason: string }>(
    INTERNAL,
    true,
    (d) => `Cannot listen on ${d.host}:${d.port}: ${d.reason}. Choose another with --port or --host.`,
  ),
  DOCS_KEY_WEAK: row<{ source: string; reason: string }>(
    INVALID_PARAMS,
    false,
    (d) => `The key from ${d.source} ${d.reason}, which is only allowed on loopback. Use 16 random characters or more.`,
  ),
  DOCS_KEY_FILE: row<{ path: string; reason: string }>(
    INVALID_PARAMS,
    false,
    (d) => `The key file ${d.path} cannot be used: ${d.reason}. Write a key into it, or remove it to get a new one.`,
  ),
  DOCS_PLAIN_HTTP: row<{ host: string }>(
    INVALID_PARAMS,
    false,
    (d) =>
      `On ${d.host} the key and the documents would cross the network unencrypted. Give --tls-cert and --tls-key, or pass --insecure-http.`,
  ),
  DOCS_TLS: row<{ reason: string }>(
    INVALID_PARAMS,
    false,
    (d) => `The certificate or its key cannot be used: ${d.reason}. Both are PEM files, and the key has no passphrase.`,
  ),
  DOCS_NAME_INVALID: row<{ what: string; name: string }>(
    INVALID_PARAMS,
    false,
    (d) => `A ${d.what} cannot be called ${d.name}. Use up to 64 letters, digits, dots, dashes and underscores.`,
  ),
  DOCS_NAME_TAKEN: row<{ what: string; name: string }>(
    INVALID_PARAMS,
    false,
    (d) => `A ${d.what} named ${d.name} exists already. Choose another name, or remove that one first.`,
  ),
  DOCS_NAME_UNKNOWN: row<{ what: string; name: string }>(
    INVALID_PARAMS,
    false,
    (d) => `There is no ${d.what} ${d.name}, so nothing was removed.`,
  ),
  DOCS_RECORDS: row<{ path: string; reason: string }>(
    INTERNAL,
    true,
    (d) => `${d.path} cannot be written: ${d.reason}. Nothing was changed.`,
  ),
  DOCS_KEY_MISSING: row(
    INVALID_PARAMS,
    false,
    () => 'The document server needs at least one key. Set PARLEY_DOCS_KEY or name a key file.',
  ),

  // Calls to the client
  CLIENT_GONE: row<{ method: string }>(
    INTERNAL,
    true,
    (d) => `The client disconnected before it answered ${d.method}. It may have done what it was asked to.`,
  ),
  CLIENT_CANCELLED: row<{ method: string }>(
    INTERNAL,
    false,
    (d) => `${d.method} was cancelled before the client answered.`,
  ),
  CLIENT_TIMEOUT: row<{ method: string; seconds: number }>(
    INTERNAL,
    true,
    (d) => `The client did not answer ${d.method} within ${d.seconds} s. It may have done what it was asked to.`,
  ),
  CLIENT_REFUSED: row<{ method: string; reason: string }>(
    INTERNAL,
    false,
    (d) => `The client answered ${d.method} with an error: ${d.reason}`,
  ),
  CLIENT_ANSWER_INVALID: row<{ method: string; reason: string }>(
    INTERNAL,
    false,
    (d) => `The client's answer to ${d.method} is invalid: ${d.reason}.`,
  ),
  PATH_OUTSIDE_ROOTS: row<{ path: string }>(
    INVALID_PARAMS,
    false,
    (d) => `${d.path} is outside the directories of this session. Add its directory when you open the session.`,
  ),
  PATH_NOT_ALLOWED: row<{ path: string }>(
    INVALID_PARAMS,
    false,
    (d) =>
      `A permission rule excludes ${d.path} here. If the rule asks, call read_file, write_file or edit_file with this path: that asks the user.`,
  ),
  LINE_INVALID: row<{ what: string; value: number }>(
    INVALID_PARAMS,
    false,
    (d) => `${d.what} must be a whole number from 1, not ${d.value}: lines are counted from 1.`,
  ),
  TERMINAL_RELEASED: row<{ terminal: string }>(
    INVALID_PARAMS,
    false,
    (d) => `The terminal ${d.terminal} was released. Start another one.`,
  ),
  ELICITATION_INVALID: row<{ reason: string }>(
    INVALID_PARAMS,
    false,
    (d) => `The user was not asked, because ${d.reason}.`,
  ),
} as const
