/**
 * Which paths permission rules exclude from a call. Plain data, so that it can be
 * handed to the thread that holds an index. Pure.
 */
import type { PathRestriction } from '../ports/values/path-access.ts'
import { fitsPath } from './wildcard.ts'

export interface PathAccess {
  /** The root set with its links resolved; patterns are relative to each of them. */
  readonly roots: readonly string[]
  /** Patterns of rules that deny. */
  readonly denied: readonly string[]
  /** Patterns of rules that ask. */
  readonly asked: readonly string[]
  /** Files and directories of Parley itself: its state, its configuration. */
  readonly own: readonly string[]
}

/** The rule kind that excludes this path from a call that did not name it; undefined if none does. The path is absolute and without links. */
export function barOf(path: string, { roots, denied, asked, own }: PathAccess): PathRestriction | undefined {
  if (denied.some((pattern) => catchesPath(pattern, [path], roots))) return 'denied'
  if (isOwnPlace(path, { own, roots })) return 'own'
  return asked.some((pattern) => catchesPath(pattern, [path], roots)) ? 'asked' : undefined
}

/** Whether any of the paths fits the pattern. Ignores case: a disk that takes `.ENV` for `.env` must not make a way around a rule. */
export function catchesPath(pattern: string, paths: readonly string[], roots: readonly string[]): boolean {
  const places = paths.flatMap((path) => placesIn(roots, path))
  return places.some((place) => fitsPath(folded(pattern), folded(place)))
}

/** The path as each directory of the root set sees it that has it. */
export function placesIn(roots: readonly string[], path: string): readonly string[] {
  return roots.flatMap((root) => (isWithin(path, root) ? [path.slice(root.length).replace(/^\//u, '')] : []))
}

/** Whether a path is Parley's own. A session that was opened inside the state directory may work in its own directory. */
export function isOwnPlace(path: string, { own, roots }: Pick<PathAccess, 'own' | 'roots'>): boolean {
  const isGiven = (place: string) =>
    roots.some((root) => root !== place && isWithin(root, place) && isWithin(path, root))
  return own.some((place) => isWithin(path, place) && !isGiven(place))
}

/** Files that decide what runs and what is allowed: a git directory by its usual name, the rules of a project. */
export function isGoverning(path: string): boolean {
  return /(?:^|\/)(?:\.git(?:\/|$)|\.parley\.toml$)/iu.test(path)
}

/** Whether a path lies in a directory, by its text alone: both are absolute and normalized. A directory lies within itself. */
export function isWithin(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith('/') ? directory : `${directory}/`)
}

/** Letters that a disk or a keyboard may spell in several ways, in one. */
export function folded(text: string): string {
  return text.normalize('NFC').toLowerCase()
}
