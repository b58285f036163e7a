/** Where a path of a call leads, for previews. */
import { join } from 'node:path'
import type { ToolPreview } from '../../../ports/tools.ts'
import { gitReasonFor } from '../../../workspace/git-directory.ts'
import { realPath } from '../../../workspace/files.ts'
import { asGiven, openRoots, routeTo, shortly } from '../../../workspace/root-set.ts'
import type { PreviewContext } from './tool.ts'

export interface ResolvedPath {
  readonly real: string
  /** As clients and people say it. */
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
  return { real, given: asGiven(real, roots), shown: shortly(real, roots), paths }
}

/** What a preview tells of a file that is to be written, beside its path: whether git executes it. */
export async function writingOf({ real }: ResolvedPath): Promise<Pick<ToolPreview, 'gitReason'>> {
  const gitReason = await gitReasonFor(real)
  return gitReason === undefined ? {} : { gitReason }
}
