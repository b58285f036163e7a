/**
 * Matches the patterns of permission rules and of `find_files` in bounded time, also for a hostile pattern. A library that
 * compiles patterns to regular expressions cannot promise that.
 */

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
export function mayName(pattern: string, place: string, isDeep: boolean): boolean {
  return mayBe(partsOf(pattern), partsOf(place), { isDeep, isFirst: true })
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

function partsOf(path: string): readonly string[] {
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
