/** Checks the state directory: that it exists, is ours, private and writable, and has room. */
import { type Stats, accessSync, constants, lstatSync, statSync, statfsSync } from 'node:fs'
import type { Config } from '../../config/settings.ts'
import { reasonOf } from '../../errors/parley-error.ts'
import { type Finding, note, ok, problem } from './finding.ts'
import { formatCount } from '../../text/shorten.ts'

const WHAT = 'state directory'
/** Bytes. With less a long turn may meet a full disk. */
const ROOM = 100 * 1024 * 1024

export function* checkHome({ home }: Config): Generator<Finding> {
  let found: Stats | undefined
  try {
    found = lstatSync(home, { throwIfNoEntry: false })
  } catch (error) {
    return yield problem(WHAT, `${home} cannot be: ${reasonOf(error)}`, 'Set PARLEY_HOME to another directory.')
  }
  if (found === undefined) return yield note(WHAT, `${home} is not there yet; the first session makes it`)
  if (!isDirectory(home))
    return yield problem(WHAT, `${home} is no directory`, 'Move it away, or set PARLEY_HOME to another directory.')
  yield* checkAccess(home)
  yield* checkRoom(home)
}

/** A link may lead to one. */
function isDirectory(home: string): boolean {
  return statSync(home, { throwIfNoEntry: false })?.isDirectory() === true
}

function* checkAccess(home: string): Generator<Finding> {
  const { mode, uid } = statSync(home)
  const us = process.getuid?.() ?? uid
  const rights = (mode & 0o777).toString(8)
  if (uid !== us)
    return yield problem(
      WHAT,
      `${home} belongs to another user (uid ${uid})`,
      'Set PARLEY_HOME to a directory of yours.',
    )
  if ((mode & 0o077) !== 0)
    yield problem(WHAT, `${home} is open to other users (mode ${rights})`, `Close it: chmod 700 '${home}'`)
  try {
    accessSync(home, constants.R_OK | constants.W_OK | constants.X_OK)
    if ((mode & 0o077) === 0) yield ok(WHAT, home)
  } catch (error) {
    yield problem(WHAT, `${home} cannot be written: ${reasonOf(error)}`, remedyOf(error, home))
  }
}

function remedyOf(error: unknown, home: string): string {
  const isReadOnly = error instanceof Error && 'code' in error && error.code === 'EROFS'
  return isReadOnly
    ? 'Mount its disk for writing, or set PARLEY_HOME to a directory elsewhere.'
    : `Give yourself the right: chmod u+rwx '${home}'`
}

function* checkRoom(home: string): Generator<Finding> {
  const { bavail, bsize } = statfsSync(home)
  const free = bavail * bsize
  const says = `${formatCount(Math.floor(free / 1024 / 1024))} MiB free`
  if (free >= ROOM) yield ok('disk', says)
  else yield problem('disk', `only ${says}`, 'Free some space: a full disk stops every turn. What is stored is safe.')
}
