/** Patterns of paths: `*` and `?` within a name, `**` over names, `{a,b}` and `[abc]`. In time that no pattern can blow up. */
import { refuse } from '../toolset/result.ts'

export type PathTest = (way: string) => boolean

const MOST_CHOICES = 100

/** A pattern without a slash is tried on the last name of a path. Throws for one that is made of too many choices. */
export function pathTest(pattern: string): PathTest {
  const globs = choicesOf(pattern.replace(/^\.?\//u, '')).map((one) => {
    const names = (one.includes('/') ? one : `**/${one}`).split('/')
    return names.map((name) => (name === '**' ? ANY_NAMES : name === '' ? ANY_NAMES : tokensOf(name)))
  })
  return (way) => {
    const names = way.split('/').map(charactersOf)
    return globs.some((glob) => fits(glob, names, nameFits))
  }
}

/** Stands for any number of things, none as well. */
const MANY = Symbol('many')
const ANY_NAMES = Symbol('names')
type Token = typeof MANY | ((character: string) => boolean)
type NamePattern = typeof ANY_NAMES | readonly Token[]

function charactersOf(name: string): readonly string[] {
  return [...name]
}

function nameFits(pattern: NamePattern, name: readonly string[]): boolean {
  return pattern !== ANY_NAMES && fits(pattern, name, (token, character) => token !== MANY && token(character))
}

/** One step back at a time, and never further back than the last star: that is enough, and never slow. */
function fits<Part, Thing>(
  pattern: readonly Part[],
  things: readonly Thing[],
  fit: (part: Part, thing: Thing) => boolean,
): boolean {
  let [part, thing] = [0, 0]
  let star: { readonly part: number; thing: number } | undefined
  while (thing < things.length) {
    const wanted = pattern[part]
    if (part < pattern.length && isMany(wanted)) {
      star = { part, thing }
      part += 1
    } else if (part < pattern.length && fit(wanted as Part, things[thing] as Thing)) {
      part += 1
      thing += 1
    } else if (star !== undefined) {
      star.thing += 1
      part = star.part + 1
      thing = star.thing
    } else return false
  }
  return pattern.slice(part).every(isMany)
}

function isMany(part: unknown): boolean {
  return part === MANY || part === ANY_NAMES
}

function tokensOf(name: string): readonly Token[] {
  const pieces = name.match(/\*+|\[[!^]?\]?[^\]]*\]|\\.|[\s\S]/gu) ?? []
  return pieces.map((piece): Token => {
    if (piece.startsWith('*')) return MANY
    if (piece === '?') return () => true
    if (piece.length > 2 && piece.startsWith('[')) return setOf(piece.slice(1, -1))
    const meant = piece.length > 1 && piece.startsWith('\\') ? piece.slice(1) : piece
    return (character) => character === meant
  })
}

function setOf(inner: string): Token {
  const isNegative = /^[!^]/u.test(inner)
  const members = [...(isNegative ? inner.slice(1) : inner)]
  const isMember = (character: string) =>
    members.some((member, index) => {
      const isRange = members[index + 1] === '-' && index + 2 < members.length
      return isRange ? character >= member && character <= (members[index + 2] ?? member) : character === member
    })
  return (character) => isMember(character) !== isNegative
}

/** `{a,b}c` is `ac` and `bc`. */
function choicesOf(pattern: string): readonly string[] {
  const found = /\{([^{}]*,[^{}]*)\}/u.exec(pattern)
  if (found === null) return [pattern]
  const [whole, inner = ''] = found
  const [before, after] = [pattern.slice(0, found.index), pattern.slice(found.index + whole.length)]
  const all = inner.split(',').flatMap((choice) => choicesOf(`${before}${choice}${after}`))
  return all.length > MOST_CHOICES
    ? refuse(`The pattern stands for more than ${MOST_CHOICES} patterns. Use a simpler one.`)
    : all
}
