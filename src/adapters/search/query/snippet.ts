/** Selects the part of a passage that a result shows, and the matches that it highlights. */
import { characterBoundary } from '../../../text/shorten.ts'
import { type QueryPart, findMatches } from '../../../text/query.ts'

export interface Snippet {
  readonly text: string
  readonly highlights: readonly (readonly [start: number, end: number])[]
}

/** Characters. */
const MAX_SNIPPET_CHARS = 400
const BEFORE = MAX_SNIPPET_CHARS / 4

/** The whole text where it is short; else a window that begins a little before the first match. */
export function snippetOf(text: string, parts: readonly QueryPart[]): Snippet {
  const matches = findMatches(text, parts)
  const first = matches[0]?.[0] ?? 0
  const start =
    text.length <= MAX_SNIPPET_CHARS
      ? 0
      : startOfWord(text, Math.min(first, text.length - MAX_SNIPPET_CHARS), first - BEFORE)
  const end =
    text.length - start <= MAX_SNIPPET_CHARS ? text.length : characterBoundary(text, start + MAX_SNIPPET_CHARS)
  return {
    text: text.slice(start, end),
    highlights: matches
      .filter(([from]) => from >= start && from < end)
      .map(([from, to]) => [from - start, Math.min(to, end) - start] as const),
  }
}

/** The first beginning of a word in the window, so that none is shown cut; the window's own if there is none. */
function startOfWord(text: string, latest: number, earliest: number): number {
  const from = Math.max(0, Math.floor(earliest))
  if (from === 0 || from >= latest) return characterBoundary(text, Math.max(0, Math.min(from, latest)))
  const gap = text.slice(from, latest).search(/(?<=[\s。！？；，])\S/u)
  return gap < 0 ? characterBoundary(text, from) : from + gap
}
