/** What builtin tools work with. */
import type { Activity } from '../../../ports/values/activity.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Processes } from '../../../ports/process.ts'
import type { OwnPrograms } from '../../../ports/values/own-programs.ts'
import type { SearchIndex } from '../../../ports/search.ts'
import type { Checker } from '../../checking/checker.ts'
import type { DocumentIndexes } from '../documents/document-indexes.ts'
import type { MayReach } from '../fetch/reach.ts'
import type { CommandSandbox } from '../sandbox/sandbox.ts'

export interface ToolServices {
  readonly clock: Clock
  readonly processes: Processes
  readonly programs: OwnPrograms
  readonly sandbox: CommandSandbox
  /** Over all sessions. */
  readonly search: Pick<SearchIndex, 'search'>
  /** The documents of the sessions' directories. */
  readonly documents: Pick<DocumentIndexes, 'open' | 'release'>
  /** Runs patterns in threads of their own. */
  readonly checker: Pick<Checker, 'findLines'>
  readonly activity: Activity
  /** Which addresses pages may come from; by default those of the public network. */
  readonly mayReach?: MayReach
}
