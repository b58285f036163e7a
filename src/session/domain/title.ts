/** The title of a session: from its first prompt, from a user, or of a fork. One line, of limited length. */
import { fail } from '../../errors/parley-error.ts'
import type { Content } from '../../ports/values/content.ts'

const FIRST_TITLE_CHARS = 80
const MAX_TITLE_CHARS = 200
const FORK_PREFIX = 'Fork of '
/** The part of a prompt that a title is made from; a prompt may be a whole file. */
const TITLE_SOURCE_CHARS = 2_000

/** A title from the beginning of the first prompt; undefined when that has no words. */
export function titleFrom(content: readonly Content[]): string | undefined {
  const beginnings = content.flatMap((block) =>
    block.type === 'text' ? [block.text.trimStart().slice(0, TITLE_SOURCE_CHARS)] : [],
  )
  const line = inOneLine(beginnings.join(' ').slice(0, TITLE_SOURCE_CHARS))
  return line === '' ? undefined : clipped(line, FIRST_TITLE_CHARS)
}

/** A title that a user or an agent gives: one line, its white space reduced. Throws TITLE_INVALID. */
export function parseTitle(text: string): string {
  const line = inOneLine(text)
  const isFit = line !== '' && Array.from(line).length <= MAX_TITLE_CHARS && !/[\p{Cc}\p{Cs}]/u.test(line)
  return isFit ? line : fail('TITLE_INVALID', { limit: MAX_TITLE_CHARS })
}

/** A fork of a fork is called like a fork. */
export function forkTitle(title: string): string {
  return title.startsWith(FORK_PREFIX) ? title : clipped(FORK_PREFIX + title, MAX_TITLE_CHARS)
}

function inOneLine(text: string): string {
  return text.replace(/\s+/gu, ' ').trim()
}

function clipped(line: string, longest: number): string {
  const letters = Array.from(line)
  return letters.length <= longest
    ? line
    : `${letters
        .slice(0, longest - 1)
        .join('')
        .trimEnd()}…`
}
