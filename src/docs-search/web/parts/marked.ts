/** Text with the places marked that a search found in it. */
import type { TextRange } from '../../../text/query.ts'
import { type Html, html } from './html.ts'

/** The part of a text that is shown. The ranges are offsets into the whole text, in order and not overlapping. */
export function marked(text: string, [start, end]: TextRange, ranges: readonly TextRange[]): Html {
  const parts: Html[] = []
  let at = start
  for (const [from, to] of ranges) {
    if (to <= at || from >= end) continue
    const [first, last] = [Math.max(from, at), Math.min(to, end)]
    parts.push(html`${text.slice(at, first)}<mark>${text.slice(first, last)}</mark>`)
    at = last
  }
  return html`${parts}${text.slice(at, end)}`
}
