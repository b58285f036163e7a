/** What a session is called: the beginning of what was asked first, until somebody gives it a better name. */
import { fail } from '../../errors/parley-error.ts'
import type { Content } from '../../ports/content.ts'

const LONGEST_FIRST = 80
/** Of a text that may be a whole file. Characters. */
const LOOKED_AT = 2_000
const LONGEST = 200

/** Undefined when the prompt has no words. */
export function titleFrom(content: readonly Content[]): string | undefined {
  const beginnings = content.flatMap((block) =>
    block.type === 'text' ? [block.text.trimStart().slice(0, LOOKED_AT)] : [],
  )
  const line = inOneLine(beginnings.join(' ').slice(0, LOOKED_AT))
  return line === '' ? undefined : clipped(line, LONGEST_FIRST)
}

/** A name that somebody gives: one line, however much white space it came with. Throws TITLE_INVALID. */
export function parseTitle(text: string): string {
  const line = inOneLine(text)
  const isFit = line !== '' && Array.from(line).length <= LONGEST && !/[\p{Cc}\p{Cs}]/u.test(line)
  return isFit ? line : fail('TITLE_INVALID', { limit: LONGEST })
}

/** A fork of a fork is a fork. */
export function forkTitle(title: string): string {
  return title.startsWith(FORK) ? title : clipped(FORK + title, LONGEST)
}

const FORK = 'Fork of '

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
