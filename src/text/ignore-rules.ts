/**
 * The lines of an ignore file that are used. Its author may be anyone: every name of a directory is compared with each line,
 * and a line with many `**` takes a number of steps that grows with every one of them.
 */

/** Lines that name something. Long files that people use have a few hundred. */
const MOST_LINES = 1_000
const LONGEST_LINE = 1_000
/** `**` with names on both sides, each of which may stand for any number of directories. */
const MOST_JUMPS = 2

/** Bytes of an ignore file that are read; a longer one is not used. */
export const LONGEST_IGNORE_FILE = 256 * 1024

/** `text` without the lines that would take too long, and without what follows the first thousand. */
export function usableRules(text: string): string {
  const lines = text.split(/\r?\n/u).filter((line) => line.trim() !== '' && !line.startsWith('#'))
  return lines
    .slice(0, MOST_LINES)
    .filter((line) => line.length <= LONGEST_LINE && jumpsIn(line) <= MOST_JUMPS)
    .join('\n')
}

function jumpsIn(line: string): number {
  const parts = line.replace(/\/+$/u, '').split('/')
  return parts.slice(0, -1).filter((part) => /^\\?\*{2,}$/u.test(part)).length
}
