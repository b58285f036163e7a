/** What of a result is text, and where each part of it stands: `read_result` counts as whoever cut it did. */
import type { Content } from '../../../../ports/content.ts'

/** Undefined for what is not made of characters. */
export function wordsIn(item: Content): string | undefined {
  if (item.type === 'text') return item.text
  return item.type === 'resource' && 'text' in item.resource ? item.resource.text : undefined
}

/** One break stands between two texts. */
export function allWordsIn(content: readonly Content[]): string {
  return content.flatMap((item) => wordsIn(item) ?? []).join('\n')
}
