/** A line of the shell taken apart as far as is needed to know what it starts. When in doubt it says so. */

export interface SimpleCommand {
  /** Without quotes. */
  readonly words: readonly string[]
  /** Files that it writes from their beginning. */
  readonly truncates: readonly string[]
}

export interface Parsed {
  readonly commands: readonly SimpleCommand[]
  /** Something in it cannot be told before it runs. */
  readonly isUnclear: boolean
}

type Token = { readonly kind: 'word'; readonly text: string } | { readonly kind: 'operator'; readonly text: string }

export function parseLine(line: string): Parsed {
  const { tokens, isUnclear } = tokensOf(line)
  const commands: SimpleCommand[] = []
  let words: string[] = []
  let truncates: string[] = []
  const end = () => {
    if (words.length > 0 || truncates.length > 0) commands.push({ words, truncates })
    words = []
    truncates = []
  }
  for (let index = 0; index < tokens.length; index++) {
    const token = tokens[index]
    if (token === undefined) break
    // What the shell puts there is the program, and nobody knows it before.
    if (SUBSTITUTES.has(token.text) && token.kind === 'operator' && words.length === 0)
      commands.push({ words: ['$', '$'], truncates: [] })
    if (token.kind === 'word') words.push(token.text)
    else if (!REDIRECTS.has(token.text)) end()
    else {
      const target = tokens[index + 1]
      index += 1
      if (TRUNCATING.has(token.text) && target?.kind === 'word') truncates.push(target.text)
    }
  }
  end()
  return { commands, isUnclear }
}

const REDIRECTS = new Set(['>', '>>', '>|', '<', '<<', '<<<', '<<-', '<>', '&>', '&>>', '>&', '<&'])
const SUBSTITUTES = new Set(['$(', '`'])
const TRUNCATING = new Set(['>', '>|', '&>', '>&'])
const OPERATOR = /^(?:[<>]\(|&>>|<<<|<<-|&>|>>|>\||>&|<&|<>|<<|\|\||&&|;;|\|&|[;|&<>()\n]|\$\(|`)/u

function tokensOf(line: string): { readonly tokens: readonly Token[]; readonly isUnclear: boolean } {
  const tokens: Token[] = []
  let word: string | undefined
  let isUnclear = false
  let at = 0
  const end = () => {
    if (word !== undefined) tokens.push({ kind: 'word', text: word })
    word = undefined
  }
  while (at < line.length) {
    const rest = line.slice(at)
    const piece = pieceAt(rest, word === undefined)
    at += piece.length
    isUnclear ||= piece.isUnclear === true
    if (piece.kind === 'text') word = `${word ?? ''}${piece.text}`
    else end()
    if (piece.kind === 'inner')
      tokens.push({ kind: 'word', text: '$' }, ...tokensOf(piece.text).tokens, { kind: 'operator', text: ';' })
    if (piece.kind === 'operator') tokens.push({ kind: 'operator', text: piece.text })
  }
  end()
  return { tokens, isUnclear }
}

interface Piece {
  readonly kind: 'text' | 'space' | 'operator' | 'inner'
  readonly text: string
  /** Characters of the line that it takes. */
  readonly length: number
  readonly isUnclear?: boolean
}

function pieceAt(rest: string, isStart: boolean): Piece {
  const first = rest.charAt(0)
  if (first === "'") return quoted(rest, rest.indexOf("'", 1))
  if (first === '"') return doubleQuoted(rest)
  if (first === '\\') return { kind: 'text', text: rest.charAt(1) === '\n' ? '' : rest.charAt(1), length: 2 }
  if (first === '#' && isStart) return { kind: 'space', text: '', length: /^[^\n]*/u.exec(rest)?.[0].length ?? 1 }
  if (first === ' ' || first === '\t' || first === '\r') return { kind: 'space', text: '', length: 1 }
  const descriptor = isStart ? /^\d+(?=[<>])/u.exec(rest)?.[0] : undefined
  if (descriptor !== undefined) return { kind: 'space', text: '', length: descriptor.length }
  const operator = OPERATOR.exec(rest)?.[0]
  if (operator !== undefined) return { kind: 'operator', text: operator, length: operator.length }
  return { kind: 'text', text: first, length: 1, isUnclear: first === '$' }
}

function quoted(rest: string, end: number): Piece {
  if (end < 0) return { kind: 'text', text: rest.slice(1), length: rest.length, isUnclear: true }
  return { kind: 'text', text: rest.slice(1, end), length: end + 1 }
}

/** What is run within it counts as well. */
function doubleQuoted(rest: string): Piece {
  const found = /^"((?:[^"\\]|\\[\s\S])*)"/u.exec(rest)
  if (found === null) return { kind: 'text', text: rest.slice(1), length: rest.length, isUnclear: true }
  const [whole, inner = ''] = found
  if (/\$\(|`/u.test(inner)) return { kind: 'inner', text: inner, length: whole.length, isUnclear: true }
  const text = inner.replaceAll(/\\(["\\$`\n])/gu, '$1')
  return { kind: 'text', text, length: whole.length, isUnclear: inner.includes('$') }
}
