/** A session's first name: the beginning of what was asked first, until somebody gives it a better one. */
import type { Content } from '../ports/content.ts'

const LONGEST = 80

/** Undefined when the prompt has no words. */
export function titleFrom(content: readonly Content[]): string | undefined {
  const text = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join(' ')
  const line = text.replace(/\s+/gu, ' ').trim()
  if (line === '') return undefined
  const letters = Array.from(line)
  return letters.length <= LONGEST
    ? line
    : `${letters
        .slice(0, LONGEST - 1)
        .join('')
        .trimEnd()}…`
}
