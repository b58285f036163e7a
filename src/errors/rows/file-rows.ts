/** The errors of files, directories and settings: rows of the catalogue. */
import { INTERNAL, INVALID_PARAMS, NOT_FOUND, row } from '../row.ts'

export const fileRows = {
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
}
