/** The patterns of rules. Whoever wrote one, it takes at most as many steps as pattern and text have letters, multiplied. */

/** `*` stands for any letters, `?` for one. */
export function fitsWord(pattern: string, word: string): boolean {
  return fits([...pattern], [...word], {
    isAny: (letter) => letter === '*',
    isSame: (letter, other) => letter === '?' || letter === other,
  })
}

/**
 * As a line of a `.gitignore`: without an inner slash it fits at any depth, `**` stands for any directories, and whatever fits
 * a directory fits all that is below it.
 */
export function fitsPath(pattern: string, path: string): boolean {
  const parts = pattern.split('/').filter((part) => part !== '')
  const isAnchored = parts.length > 1 || pattern.startsWith('/')
  const wanted = [...(isAnchored || parts[0] === '**' ? [] : ['**']), ...parts]
  const places = path.split('/').filter((part) => part !== '')
  // What is below `a/**` is in it; a directory that fits has all of its content with it.
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
  return fits(wanted, places, { isAny: (part) => part === '**', isSame: fitsWord })
}

interface Kind {
  readonly isAny: (wanted: string) => boolean
  readonly isSame: (wanted: string, item: string) => boolean
}

/** Goes back to the last `isAny` only: it can take over whatever one before it would have taken. */
function fits(pattern: readonly string[], items: readonly string[], { isAny, isSame }: Kind): boolean {
  let at = 0
  let retry: { readonly at: number; from: number } | undefined
  let index = 0
  for (let item = items[index]; item !== undefined; item = items[index]) {
    const wanted = pattern[at]
    if (wanted !== undefined && isAny(wanted)) {
      at += 1
      retry = { at, from: index }
    } else if (wanted !== undefined && isSame(wanted, item)) {
      at += 1
      index += 1
    } else if (retry !== undefined) {
      retry.from += 1
      index = retry.from
      at = retry.at
    } else return false
  }
  return pattern.slice(at).every(isAny)
}
