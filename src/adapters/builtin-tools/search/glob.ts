/** Patterns of paths: `*` and `?` within a name, `**` over names, `{a,b}` and `[abc]`. Matching time is bounded for every pattern. */
import { matchesAll } from '../../../path-rules/path-rules.ts'
import { failTool } from '../toolset/tool-failure.ts'

export type PathTest = (way: string) => boolean

const MAX_CHOICES = 100

/** A pattern without a slash is matched against the last name of a path. Throws for a pattern with too many alternatives. */
export function pathTest(pattern: string): PathTest {
  const globs = choicesOf(pattern.replace(/^\.?\//u, '')).map((one) => {
    const names = (one.includes('/') ? one : `**/${one}`).split('/')
    return names.map((name) => (name === '**' ? ANY_NAMES : name === '' ? ANY_NAMES : tokensOf(name)))
  })
  return (way) => {
    const names = way.split('/').map(charactersOf)
    return globs.some((glob) => matchesAll(glob, names, NAMES))
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

function nameMatches(pattern: NamePattern, name: readonly string[]): boolean {
  if (pattern === ANY_NAMES) return false
  const isSame = (token: Token, character: string) => token !== MANY && token(character)
  return matchesAll(pattern, name, { isAny: (token) => token === MANY, isSame })
}

const NAMES = { isAny: (part: NamePattern) => part === ANY_NAMES, isSame: nameMatches }

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
  return all.length > MAX_CHOICES
    ? failTool(`The pattern stands for more than ${MAX_CHOICES} patterns. Use a simpler one.`)
    : all
}
