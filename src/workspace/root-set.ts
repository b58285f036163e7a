/** The root set as this machine has it: each directory as it was given and where it really is. */
import { realpath } from 'node:fs/promises'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import { isWithin } from '../access/path-access.ts'
import { fail } from '../errors/parley-error.ts'
import { refuse } from './refuse.ts'

export interface Root {
  /** As clients and people say it. */
  readonly given: string
  /** Without links. */
  readonly real: string
}

/** Where a path leads by its words alone: from a root, through these names. */
export interface Route {
  readonly root: Root
  readonly names: readonly string[]
}

/** Those of them that are there. */
export async function openRoots(roots: readonly string[]): Promise<readonly Root[]> {
  const found = await Promise.all(
    roots.map(async (given) => {
      const real = await realpath(given).catch(() => undefined)
      return real === undefined ? [] : [{ given: resolve(given), real }]
    }),
  )
  return found.flat()
}

/** Throws PATH_OUTSIDE_ROOTS. A path that is not absolute begins at the first root. */
export function routeTo(path: string, roots: readonly Root[]): Route {
  const [first] = roots
  if (first === undefined)
    return refuse('The directory of this session is not there any more. Make it again, or open another session.')
  if (path.includes('\0')) refuse('A path cannot hold a NUL character.')
  const absolute = isAbsolute(path) ? resolve(path) : resolve(first.given, path)
  const routes = roots.flatMap((root) => [root.given, root.real].flatMap((base) => routeFrom(base, { root, absolute })))
  // Of roots that lie within each other the innermost knows best.
  return (
    routes.toSorted((one, other) => one.names.length - other.names.length)[0] ?? fail('PATH_OUTSIDE_ROOTS', { path })
  )
}

/** Whether a real path lies in the root set. */
export function isInside(real: string, roots: readonly Root[]): boolean {
  return roots.some((root) => isWithin(real, root.real))
}

/** A real path as people say it. */
export function asGiven(real: string, roots: readonly Root[]): string {
  const { root, names } = routeTo(real, roots)
  return join(root.given, ...names)
}

/** A real path from the first root on, if it lies there. */
export function shortly(real: string, roots: readonly Root[]): string {
  const { root, names } = routeTo(real, roots)
  if (root !== roots[0]) return join(root.given, ...names)
  return names.join(sep) || '.'
}

function routeFrom(
  base: string,
  { root, absolute }: { readonly root: Root; readonly absolute: string },
): readonly Route[] {
  if (!isWithin(absolute, base)) return []
  return [
    {
      root,
      names: relative(base, absolute)
        .split(sep)
        .filter((name) => name !== ''),
    },
  ]
}
