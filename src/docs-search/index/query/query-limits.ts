/** Which queries can be searched for. Separate from the plan, whose tables only the index thread loads. */
import { parseQuery } from '../../../text/query.ts'

const MAX_QUERY_CHARACTERS = 1_000
const MAX_QUERY_WORDS = 64

/** The mistake in a query, as the end of a sentence that begins with the argument's name. */
export function problemOfQuery(query: string): string | undefined {
  if (query.length > MAX_QUERY_CHARACTERS)
    return `has ${query.length} characters; give at most ${MAX_QUERY_CHARACTERS}, a few words find more`
  const words = parseQuery(query).length
  if (words === 0) return 'has no letter or number in it; give one word or more'
  return words > MAX_QUERY_WORDS ? `has ${words} words; give at most ${MAX_QUERY_WORDS}` : undefined
}
