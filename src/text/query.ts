/**
 * The syntax of a search query, and what it matches.
 *
 * Parts between spaces must all occur. A part is a phrase: its tokens stand next to each other, in order, and separated where
 * the part has punctuation. So `阵列` is found in 磁盘阵列 and not in 阵，列; `session/load` is found however its two words
 * are joined by punctuation (`session/load`, `session.load`), and `read_file` is one word. Words match whole words, except
 * that a word at the end of a run that begins with Chinese may be a prefix: `软RAID` finds 软RAID5. No character is special.
 */
import { fold, foldWithOffsets } from './fold.ts'
import { BREAK, stored, type Token, tokensOf } from './tokens.ts'

export interface QueryPart {
  readonly tokens: readonly string[]
  /** Whether punctuation stands before token `i`; never before the first. */
  readonly breakBefore: readonly boolean[]
  /** The last token may be the beginning of a longer word. */
  readonly prefix: boolean
}

/** UTF-16 offsets, the end not included. */
export type TextRange = readonly [start: number, end: number]

/** The parts of a query, each once. Empty if there is nothing to search for. */
export function parseQuery(query: string): readonly QueryPart[] {
  const parts = new Map<string, QueryPart>()
  for (const text of fold(query).split(/\s+/)) {
    const part = partOf(tokensOf(text))
    if (part.tokens.length > 0) parts.set(phrase(part), part)
  }
  return [...parts.values()]
}

function partOf(tokens: readonly Token[]): QueryPart {
  const last = tokens.at(-1)
  return {
    tokens: tokens.map((token) => token.text),
    breakBefore: tokens.map((token) => token.breakBefore),
    prefix: last !== undefined && !last.unspaced && !last.breakBefore && tokens.at(-2)?.unspaced === true,
  }
}

/** The FTS5 expression for one part. */
export function phrase(part: QueryPart): string {
  const words = part.tokens.map((token, i) =>
    part.breakBefore[i] === true ? `${BREAK} ${stored(token)}` : stored(token),
  )
  return `"${words.join(' ')}"${part.prefix ? ' *' : ''}`
}

/** The FTS5 expression that all parts must satisfy. `parts` must not be empty. */
export function allOf(parts: readonly QueryPart[]): string {
  return parts.map(phrase).join(' AND ')
}

/** The FTS5 expression for all parts next to each other in the order they were typed. */
export function asOnePhrase(parts: readonly QueryPart[]): string {
  return phrase({
    tokens: parts.flatMap((part) => part.tokens),
    breakBefore: parts.flatMap((part) => part.breakBefore),
    prefix: parts.at(-1)?.prefix ?? false,
  })
}

/** Where the parts occur in a text, in its own offsets: in order, and without overlaps. */
export function findMatches(original: string, parts: readonly QueryPart[]): readonly TextRange[] {
  const folded = foldWithOffsets(original)
  const tokens = tokensOf(folded.text)
  const found: TextRange[] = []
  for (const [at] of tokens.entries()) {
    for (const part of parts) {
      const end = endOfMatch(part, tokens, at)
      const start = tokens[at]?.start ?? 0
      if (end > 0) found.push([folded.starts[start] ?? 0, folded.ends[end - 1] ?? 0])
    }
  }
  return withoutOverlaps(found)
}

/** Where in the folded text the part ends that begins at token `at`, or 0. */
function endOfMatch(part: QueryPart, tokens: readonly Token[], at: number): number {
  let end = 0
  for (const [i, wanted] of part.tokens.entries()) {
    const token = tokens[at + i]
    if (token === undefined || (i > 0 && token.breakBefore !== part.breakBefore[i])) return 0
    const open = part.prefix && i === part.tokens.length - 1
    if (open ? !token.text.startsWith(wanted) : token.text !== wanted) return 0
    end = open ? token.start + wanted.length : token.end
  }
  return end
}

/** In order, and those that overlap as one. */
export function withoutOverlaps(ranges: readonly TextRange[]): readonly TextRange[] {
  const result: TextRange[] = []
  for (const [start, end] of [...ranges].sort((a, b) => a[0] - b[0] || b[1] - a[1])) {
    const before = result.at(-1)
    if (before === undefined || start >= before[1]) result.push([start, end])
    else if (end > before[1]) result[result.length - 1] = [before[0], end]
  }
  return result
}
