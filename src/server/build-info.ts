/** The build of this program, as a bug report must name it. */
import { ENTRY_FORMAT } from '../session/domain/entries.ts'
import { serverInfo } from './server-info.ts'

/** Written in by the build; absent where the sources run as they are. */
declare const BUILT_COMMIT: string | undefined

export interface BuildInfo {
  readonly version: string
  /** Null where the build did not know it. */
  readonly commit: string | null
  readonly node: string
  readonly journalFormat: number
}

export function buildInfo(node: string): BuildInfo {
  const commit = typeof BUILT_COMMIT === 'string' && BUILT_COMMIT !== '' ? BUILT_COMMIT : null
  return { version: serverInfo.version, commit, node, journalFormat: ENTRY_FORMAT }
}
