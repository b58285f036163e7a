/** Where the terms of a query occur in a text, as they are written or in another form, in the offsets of the text itself. */
import { findMatches, type TextRange, withoutOverlaps } from '../../../text/query.ts'
import type { Term } from './plan.ts'
import { simplified } from './traditional-to-simplified.ts'
import { type Stem, stemsOf } from './stems.ts'

export function highlightsOf(text: string, terms: readonly Term[]): readonly TextRange[] {
  const exact = findMatches(
    simplified(text),
    terms.map(({ part }) => part),
  )
  const wanted = terms.map(({ stems }) => stems).filter((stems) => stems.length > 0)
  if (wanted.length === 0) return exact
  const stems = stemsOf(text)
  const other = stems.flatMap((_, at) => wanted.flatMap((sequence) => rangeAt(stems, at, sequence)))
  return withoutOverlaps([...exact, ...other])
}

function rangeAt(stems: readonly Stem[], at: number, sequence: readonly string[]): readonly TextRange[] {
  const found = stems.slice(at, at + sequence.length)
  const fits = sequence.every((stem, i) => found[i]?.stem === stem && (i === 0 || !(found[i]?.breakBefore ?? true)))
  const [first, last] = [found[0], found.at(-1)]
  return fits && first !== undefined && last !== undefined ? [[first.start, last.end]] : []
}
