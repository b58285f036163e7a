/** Opens the search for files with its first query, because few clients use it and a start should load little. */
import type { Clock } from '../../ports/clock.ts'
import type { SessionFiles } from './session-files.ts'

const opened = new WeakMap<object, Promise<SessionFiles>>()

/** One search for all connections of a server; `server` is any object that identifies it. */
export function sessionFilesOf(server: object, clock: Pick<Clock, 'now' | 'setTimer'>): Promise<SessionFiles> {
  const known = opened.get(server) ?? import('./session-files.ts').then(({ SessionFiles: Files }) => new Files(clock))
  opened.set(server, known)
  return known
}
