/**
 * Which lines of an ignore file are used. Its author may be hostile: each file name is matched against each line, and the steps
 * that one match takes grow with every `**` of the line.
 */

/** Lines with a pattern. Real files have at most a few hundred. */
const MAX_LINES = 1_000
const MAX_LINE_CHARS = 1_000
/** `**` with names on both sides; each may stand for any number of directories. */
const MAX_JUMPS = 2

/** A longer ignore file is not used. */
export const MAX_IGNORE_FILE_BYTES = 256 * 1024

/** `text` without lines that take too long to match, and without lines after the first thousand. */
export function usableRules(text: string): string {
  const lines = text.split(/\r?\n/u).filter((line) => line.trim() !== '' && !line.startsWith('#'))
  return lines
    .slice(0, MAX_LINES)
    .filter((line) => line.length <= MAX_LINE_CHARS && jumpsIn(line) <= MAX_JUMPS)
    .join('\n')
}

function jumpsIn(line: string): number {
  const parts = line.replace(/\/+$/u, '').split('/')
  return parts.slice(0, -1).filter((part) => /^\\?\*{2,}$/u.test(part)).length
}
