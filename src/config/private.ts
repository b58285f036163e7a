/** Checks that only the user can write to the state and the settings: another user who can has their permissions and keys. */
import { chmodSync, lstatSync, readdirSync, statSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import { fileReasonOf } from '../errors/file-reason.ts'
import { fail } from '../errors/parley-error.ts'

/** Bits of a mode. */
const WRITABLE_BY_OTHERS = 0o022
const WRITABLE_BY_ALL = 0o002
const STICKY = 0o1000

/** Files that identify a directory with other things in it as Parley's own. */
const OURS: ReadonlySet<string> = new Set(['journal.db', 'server.lock', 'server.log'])

/**
 * Throws STATE_NOT_PRIVATE for a state directory of another user, or that other users can write to. One that is empty or holds
 * sessions is set to mode 700 instead, and the returned sentence says so; a directory of another user is never changed.
 */
export function requirePrivateState(home: string): string | undefined {
  const found = stateAt(home)
  // On Windows there is no such owner and no such mode.
  if (found === undefined || !found.isDirectory() || process.getuid === undefined) return undefined
  if (isForeign(found)) failNotPrivate(home, 'it belongs to another user; set PARLEY_HOME to a directory of your own')
  if ((found.mode & WRITABLE_BY_OTHERS) === 0) return undefined
  const names = readdirSync(home)
  const isOurs = names.length === 0 || names.some((name) => OURS.has(name))
  if (!isOurs || (found.mode & STICKY) !== 0)
    failNotPrivate(
      home,
      `other users can write to it; type chmod go-w ${home}, or set PARLEY_HOME to a directory of your own`,
    )
  const planted = names.find((name) => isForeign(lstatSync(join(home, name))))
  if (planted !== undefined)
    failNotPrivate(
      home,
      `${planted} in it belongs to another user, who could write to it; look at it, and move it away`,
    )
  chmodSync(home, 0o700)
  return `${home} could be written by other users. Now it is yours alone: mode 700.`
}

function stateAt(home: string): Stats | undefined {
  try {
    return statSync(home, { throwIfNoEntry: false })
  } catch (error) {
    // As with the HOME of a service, which is often no directory.
    return failNotPrivate(home, `${fileReasonOf(error)}; set PARLEY_HOME to a directory of your own`)
  }
}

/** Throws CONFIG_UNREADABLE for a file of settings that another user can change; a system may keep it for the user. */
export function requirePrivateFile(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined || process.getuid === undefined) return
  if (isForeign(found) && found.uid !== 0) fail('CONFIG_UNREADABLE', { path, reason: 'it belongs to another user' })
  if (found.isFile() && (found.mode & WRITABLE_BY_ALL) !== 0)
    fail('CONFIG_UNREADABLE', { path, reason: `everyone on this machine can write to it; type chmod go-w ${path}` })
}

function isForeign({ uid }: Stats): boolean {
  return uid !== process.getuid?.()
}

function failNotPrivate(path: string, reason: string): never {
  return fail('STATE_NOT_PRIVATE', { path, reason })
}
