/** What of a passage is shown, and what in it is marked. */
import type { Range } from '../../text/query.ts'

export interface Snippet {
  readonly text: string
  readonly highlights: readonly Range[]
}

/** The whole text where it is short; else a window that begins a little before the first match. */
export function snippetOf(text: string, matches: readonly Range[], longest: number): Snippet {
  const first = matches[0]?.[0] ?? 0
  const start =
    text.length <= longest ? 0 : wordStart(text, Math.min(first, text.length - longest), first - longest / 4)
  const end = text.length - start <= longest ? text.length : beforeHalfCharacter(text, start + longest)
  return {
    // Blocks of HTML end with a paragraph separator; people read it as a line end, and it is as long.
    text: text.slice(start, end).replaceAll('\u2029', '\n'),
    highlights: matches
      .filter(([from]) => from >= start && from < end)
      .map(([from, to]) => [from - start, Math.min(to, end) - start]),
  }
}

/** The first start of a word or sentence in the window, so that none is shown cut; `latest` if there is none. */
function wordStart(text: string, latest: number, earliest: number): number {
  const from = Math.max(0, Math.floor(earliest))
  if (from === 0 || from >= latest) return Math.max(0, beforeHalfCharacter(text, Math.min(from, latest)))
  const gap = text.slice(from, latest).search(/(?<=[\s。！？；，])\S/)
  return gap < 0 ? beforeHalfCharacter(text, from) : from + gap
}

function beforeHalfCharacter(text: string, at: number): number {
  const unit = text.charCodeAt(at)
  return unit >= 0xdc00 && unit < 0xe000 ? at - 1 : at
}

/** The line of an offset in a passage that starts on `line`. */
export function lineAt(text: string, offset: number, line: number): number {
  let result = line
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) result++
  return result
}
