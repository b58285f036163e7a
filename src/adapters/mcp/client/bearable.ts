/** Messages that are too costly to parse are replaced, unparsed, by an error that says why; requests lose their parameters. */
import { outlineOf, SHORT_JSON } from '../../../rpc/json-outline.ts'

/** The code of the error that stands in place of such an answer; its message ends a sentence that begins "JSON that". */
export const NOT_PARSED = -32096

/** Deeper messages are never shown to anything that goes through them by recursion: it would run out of stack. */
export const DEEPEST = 1_000
/** Lists, objects, texts, numbers: more take a good part of a second to parse, in which no client is served. */
export const MOST_VALUES = 1_000_000

/** The same text, if it may be parsed. */
export function bearable(text: string): string {
  if (text.length <= SHORT_JSON) return text
  const { values, levels, id, method } = outlineOf(text)
  const why = wordsFor(values, levels)
  if (why === undefined) return text
  const rest = method === undefined ? { error: { code: NOT_PARSED, message: why } } : { method, params: {} }
  return JSON.stringify({ jsonrpc: '2.0', id, ...rest })
}

function wordsFor(values: number, levels: number): string | undefined {
  if (levels > DEEPEST) return `is nested more than ${DEEPEST} levels deep`
  return values > MOST_VALUES ? `has more than ${MOST_VALUES} values` : undefined
}
