/** Where a path of a call leads, for previews. */
import { join } from 'node:path'
import type { ToolPreview } from '../../../ports/tools.ts'
import { gitReasonFor } from '../../../workspace/git-directory.ts'
import { pathAsGiven, openRoots, routeTo, pathFromFirstRoot, realPath } from '../../../workspace/resolve.ts'
import type { PreviewContext, ToolCall } from './tool.ts'
import type { PathRestriction, PathAccessFilter } from '../../../ports/values/path-access.ts'
import { formatCount, refuse } from './result.ts'

export interface ResolvedPath {
  readonly real: string
  /** The path as clients and users write it. */
  readonly given: string
  /** From the first directory of the session on. */
  readonly shown: string
  /** Where it is, and the way that was named where links lead from it to there: rules hold for both. */
  readonly paths: readonly string[]
}

/** Throws PATH_OUTSIDE_ROOTS. */
export async function resolvePath(path: string, { caller }: Pick<PreviewContext, 'caller'>): Promise<ResolvedPath> {
  const roots = await openRoots(caller.roots)
  const real = await realPath(path, roots)
  const { root, names } = routeTo(path, roots)
  const paths = [...new Set([real, join(root.real, ...names)])]
  return { real, given: pathAsGiven(real, roots), shown: pathFromFirstRoot(real, roots), paths }
}

/** For previews of writes: whether git executes the file. */
export async function gitReasonOf({ real }: ResolvedPath): Promise<Pick<ToolPreview, 'gitReason'>> {
  const gitReason = await gitReasonFor(real)
  return gitReason === undefined ? {} : { gitReason }
}

/** A link may lead elsewhere than when the call was permitted. */
export function assertPathAllowed(real: string, { caller: { pathAccess: bars } }: ToolCall): void {
  const bar = bars(real)
  if (bar === undefined) return
  if (bar === 'denied') refuse('Not allowed: a rule denies this path.')
  refuse('Not allowed: this path is asked about, and leads elsewhere than when that was decided.')
}

/** Counts the paths that permission rules exclude from a directory walk. */
export interface ExclusionCounter {
  /** Whether this is left out; counts it if so. */
  readonly has: (real: string) => boolean
  /** Lines for the end of the result. */
  words(): readonly string[]
}

const NAME_IT = 'Name one as path to have it asked.'

const REASONS: readonly (readonly [bar: PathRestriction, why: string, advice: string])[] = [
  ['denied', 'rules deny them', ''],
  ['asked', 'they are asked about', ` ${NAME_IT}`],
  ['own', 'they are files of Parley itself', ` ${NAME_IT}`],
]

/** `isRead`: also excludes files that would need approval, because the tool shows their content and not only their names. */
export function countExclusions(bars: PathAccessFilter, { isRead }: { readonly isRead: boolean }): ExclusionCounter {
  const counts: Record<PathRestriction, number> = { denied: 0, asked: 0, own: 0 }
  return {
    has: (real) => {
      const bar = bars(real)
      if (bar === undefined || (bar === 'asked' && !isRead)) return false
      counts[bar] += 1
      return true
    },
    words: () =>
      REASONS.flatMap(([bar, why, advice]) =>
        counts[bar] > 0 ? [`[Left out, because ${why}: ${formatCount(counts[bar])}.${advice}]`] : [],
      ),
  }
}
