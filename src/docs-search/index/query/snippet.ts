/** Snippets: the part of a passage that is shown, with its matches marked. */
import type { TextRange } from '../../../text/query.ts'
import { characterBoundary } from '../../../text/shorten.ts'

export interface Snippet {
  readonly text: string
  readonly highlights: readonly TextRange[]
}

/** Characters of the ellipsis at each end of a snippet. */
const ELLIPSIS_CHARS = 2

/**
 * The whole text where it is short; else a window around the first match, cut where a line, a sentence or a word ends.
 * An ellipsis stands for what is left out; it has a line of its own where a whole line is left out, so that a heading
 * or a list item still begins its line.
 */
export function snippetOf(text: string, matches: readonly TextRange[], longest: number): Snippet {
  if (text.length <= longest) return { text: asLines(text), highlights: matches }
  const room = longest - 2 * ELLIPSIS_CHARS
  const [first, firstEnd] = matches[0] ?? [0, 0]
  const start = startOf(text, Math.floor(Math.min(first - room / 4, text.length - room)), first)
  const end = snippetEnd(text, start, { earliest: firstEnd, latest: start + room })
  const before = start === 0 ? '' : /[\n\u2029]/.test(text.charAt(start - 1)) ? '…\n' : '… '
  const shown = text.slice(start, end)
  const after = end === text.length ? '' : /^[^\S\n\u2029]*[\n\u2029]/.test(text.slice(end, end + 80)) ? '\n…' : ' …'
  return {
    text: before + asLines(shown) + after,
    highlights: matches
      .filter(([from]) => from >= start && from < end)
      .map(([from, to]) => [from - start + before.length, Math.min(to, end) - start + before.length]),
  }
}

/** Blocks of HTML end with a paragraph separator. It is shown as a line end, which has the same length. */
function asLines(text: string): string {
  return text.replaceAll('\u2029', '\n')
}

/** Where a snippet may begin, the best first: a paragraph, a sentence, a word. */
const STARTS: readonly RegExp[] = [
  /(?<=\n[^\S\n]*\n|\u2029)[^\s]/,
  /(?<=[。！？；]|[.!?]\s|\n)\S/,
  /(?<=[\s，、：])\S|(?<=\p{Script=Han})(?=[\p{L}\p{N}])|(?=\p{Script=Han})/u,
]

/** The first good place between two offsets; the earliest that is no half of a character if there is none. */
function startOf(text: string, earliest: number, latest: number): number {
  if (earliest <= 0) return 0
  // The text before a position decides, too. The longest that a pattern looks back at is a line end with the blank before it.
  const margin = Math.min(earliest, 8)
  const window = text.slice(earliest - margin, latest + 1)
  for (const pattern of STARTS) {
    const place = new RegExp(pattern.source, `g${pattern.flags}`)
    place.lastIndex = margin
    const found = place.exec(window)
    if (found !== null) return earliest - margin + found.index
  }
  return characterBoundary(text, Math.min(earliest, latest))
}

/** Where a snippet may end, the best first: a line or a sentence, a clause of Chinese, a word. */
const ENDS: readonly RegExp[] = [
  /(?=\n|\u2029)|(?<=[。！？；])|(?<=[.!?])(?=\s)/g,
  /(?<=[，、：])/g,
  /(?<=\S)(?=\s)|(?<=\p{Script=Han})|(?=\p{Script=Han})/gu,
]
/** How much of a window a good end may cost, by the pattern above. */
const COSTS = [0.4, 0.3, 0.9] as const

function snippetEnd(
  text: string,
  start: number,
  { earliest, latest }: { readonly earliest: number; readonly latest: number },
): number {
  if (latest >= text.length) return text.length
  const window = text.slice(start, latest + 1)
  for (const [i, pattern] of ENDS.entries()) {
    const least = Math.max(earliest, latest - (latest - start) * (COSTS[i] ?? 0))
    const places = [...window.matchAll(pattern)].map(({ index }) => start + index)
    const found = places.findLast((place) => place <= latest && place >= least && place > start)
    if (found !== undefined) return start + text.slice(start, found).trimEnd().length
  }
  return characterBoundary(text, latest)
}

/** The line of an offset in a passage that starts on `line`. */
export function lineAt(text: string, offset: number, line: number): number {
  let result = line
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) result++
  return result
}
