/** Where a path of a call leads, for previews. */
import { realPath } from './place/file.ts'
import { asGiven, openRoots, shortly } from './place/roots.ts'
import type { Looking } from './tool.ts'

export interface Placed {
  readonly real: string
  /** As clients and people say it. */
  readonly given: string
  /** From the first directory of the session on. */
  readonly shown: string
}

/** Throws PATH_OUTSIDE_ROOTS. */
export async function placed(path: string, { caller }: Pick<Looking, 'caller'>): Promise<Placed> {
  const roots = await openRoots(caller.roots)
  const real = await realPath(path, roots)
  return { real, given: asGiven(real, roots), shown: shortly(real, roots) }
}
