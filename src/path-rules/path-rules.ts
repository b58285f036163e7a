/**
 * Which paths permission rules exclude from a call, and how patterns of rules match. Plain data, so that it can be handed to
 * the thread that holds an index. Pure.
 */
import { EXECUTED_LATER } from './executed-later.ts'
import type { PathRestriction } from '../ports/values/path-access.ts'
import { comparable, driveRootOf } from './windows-paths.ts'

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
  return isOfWindows(path) ? placesBelow(roots.map(comparable), comparable(path)) : placesBelow(roots, path)
}

function placesBelow(roots: readonly string[], path: string): readonly string[] {
  return roots.flatMap((root) => (isBelow(path, root) ? [path.slice(root.length).replace(/^\//u, '')] : []))
}

/** Whether a path is Parley's own. A session that was opened inside the state directory may work in its own directory. */
export function isOwnPlace(path: string, { own, roots }: Pick<PathAccess, 'own' | 'roots'>): boolean {
  const isGiven = (place: string) =>
    roots.some((root) => root !== place && isWithin(root, place) && isWithin(path, root))
  return own.some((place) => isWithin(path, place) && !isGiven(place))
}

/** Files that decide what runs and what is allowed: a git directory by its usual name, the rules of a project. */
export function isGoverning(path: string): boolean {
  const text = isOfWindows(path) ? comparable(path) : path
  return /(?:^|\/)(?:\.git(?:\/|$)|\.parley\.toml$)/iu.test(text)
}

/** The program that executes this file later without a user's doing; undefined for other files. The path is absolute and without links. */
export function executorOf(path: string): string | undefined {
  const roots = [isOfWindows(path) ? driveRootOf(path) : '/']
  return EXECUTED_LATER.find(({ files }) => files.some((pattern) => catchesPath(pattern, [path], roots)))?.by
}

/** Whether a path lies in a directory, by its text alone: both are absolute and normalized. A directory lies within itself. */
export function isWithin(path: string, directory: string): boolean {
  return isOfWindows(directory) ? isBelow(comparable(path), comparable(directory)) : isBelow(path, directory)
}

function isBelow(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith('/') ? directory : `${directory}/`)
}

/** By its text: `C:\…` or `\\server\…`. */
function isOfWindows(path: string): boolean {
  return !path.startsWith('/') && /^(?:[A-Za-z]:[\\/]|\\\\)/u.test(path)
}

/** Letters that a disk or a keyboard may spell in several ways, in one. */
export function folded(text: string): string {
  return text.normalize('NFC').toLowerCase()
}

// Patterns of permission rules and of `find_files` match in bounded time, also hostile ones. A library that compiles patterns
// to regular expressions cannot promise that.

/** `*` stands for any letters, `?` for one. */
export function fitsWord(pattern: string, word: string): boolean {
  return matchesAll([...pattern], [...word], {
    isAny: (letter) => letter === '*',
    isSame: (letter, other) => letter === '?' || letter === other,
  })
}

/**
 * Matches like a line of a `.gitignore`. Without an inner slash a pattern fits at any depth, `**` stands for any
 * directories, and a pattern that fits a directory fits everything below it.
 */
export function fitsPath(pattern: string, path: string): boolean {
  const parts = pattern.split('/').filter((part) => part !== '')
  const isAnchored = parts.length > 1 || pattern.startsWith('/')
  const wanted = [...(isAnchored || parts[0] === '**' ? [] : ['**']), ...parts]
  const places = path.split('/').filter((part) => part !== '')
  // `a/**` matches what is below `a`. A directory that matches includes all of its content.
  return wanted.at(-1) === '**' && wanted.length > 1
    ? fitsPlaces([...wanted.slice(0, -1), '*', '**'], places)
    : fitsPlaces([...wanted, '**'], places)
}

/**
 * Whether what fits this pattern of a whole path may be the place, something in it, or, where directories are gone through,
 * something that the place is in. `*` is no name that begins with a dot, and `**` alone says nothing.
 */
export function mayMatchInside(pattern: string, place: string, isDeep: boolean): boolean {
  return mayBe(pathParts(pattern), pathParts(place), { isDeep, isFirst: true })
}

interface At {
  readonly isDeep: boolean
  readonly isFirst: boolean
}

function mayBe([wanted, ...rest]: readonly string[], places: readonly string[], { isDeep, isFirst }: At): boolean {
  const [name, ...below] = places
  const next = { isDeep, isFirst: false }
  if (name === undefined) return true
  if (wanted === undefined) return isDeep
  if (wanted !== '**') return fitsName(wanted, name) && mayBe(rest, below, next)
  // Where only the last name is left open it may be this one.
  if (below.length === 0 && !isFirst) return true
  const [after] = rest
  if (after === undefined || after === '**') return after !== undefined && mayBe(rest, places, next)
  return places.some((one, at) => fitsName(after, one) && mayBe(rest, places.slice(at), { ...next, isDeep: false }))
}

function fitsName(pattern: string, name: string): boolean {
  return (!name.startsWith('.') || pattern.startsWith('.')) && fitsWord(pattern, name)
}

function pathParts(path: string): readonly string[] {
  return path.split('/').filter((part) => part !== '')
}

function fitsPlaces(wanted: readonly string[], places: readonly string[]): boolean {
  return matchesAll(wanted, places, { isAny: (part) => part === '**', isSame: fitsWord })
}

interface Matching<Part, Item> {
  /** The part stands for any number of items, also for none. */
  readonly isAny: (part: Part) => boolean
  readonly isSame: (part: Part, item: Item) => boolean
}

/**
 * Whether the pattern matches all items. It only ever goes back to the last `isAny`, which can take over what an earlier one
 * would have taken: no pattern needs more steps than parts times items.
 */
export function matchesAll<Part, Item>(
  pattern: readonly Part[],
  items: readonly Item[],
  { isAny, isSame }: Matching<Part, Item>,
): boolean {
  let [part, item] = [0, 0]
  let retry: { readonly part: number; item: number } | undefined
  while (item < items.length) {
    if (part < pattern.length && isAny(pattern[part] as Part)) {
      part += 1
      retry = { part, item }
    } else if (part < pattern.length && isSame(pattern[part] as Part, items[item] as Item)) {
      part += 1
      item += 1
    } else if (retry !== undefined) {
      retry.item += 1
      part = retry.part
      item = retry.item
    } else return false
  }
  return pattern.slice(part).every(isAny)
}
