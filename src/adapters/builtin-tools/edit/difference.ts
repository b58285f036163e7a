/** Renders a change for users: the lines that differ and a few around them. */
import type { ToolCallContent } from '../../../ports/values/content.ts'

/** Lines shown before and after. */
const CONTEXT_LINES = 3
/** Characters that are shown at all. */
const MAX_DIFF_CHARS = 256 * 1024

export interface Difference {
  readonly content: readonly ToolCallContent[]
  /** The first line that differs, counted from 1. */
  readonly line: number
}

/** `before` is null for a file that was not there. */
export function diffOf(path: string, before: string | null, after: string): Difference {
  if (before === null) return { content: shown({ path, oldText: null, newText: after }), line: 1 }
  const [old, new_] = [before.split('\n'), after.split('\n')]
  const shorter = Math.min(old.length, new_.length)
  const start = countSame(shorter, (index) => old[index] === new_[index])
  const end = countSame(shorter - start, (index) => old.at(-1 - index) === new_.at(-1 - index))
  const part = (lines: readonly string[]) =>
    lines.slice(Math.max(0, start - CONTEXT_LINES), lines.length - Math.max(0, end - CONTEXT_LINES)).join('\n')
  return { content: shown({ path, oldText: part(old), newText: part(new_) }), line: start + 1 }
}

interface Change {
  readonly path: string
  readonly oldText: string | null
  readonly newText: string
}

function shown(change: Change): readonly ToolCallContent[] {
  const length = (change.oldText?.length ?? 0) + change.newText.length
  if (length <= MAX_DIFF_CHARS) return [{ type: 'diff', ...change }]
  return [
    {
      type: 'content',
      content: { type: 'text', text: `The change has ${length} characters; that is too long to show.` },
    },
  ]
}

function countSame(most: number, isSame: (index: number) => boolean): number {
  let count = 0
  while (count < most && isSame(count)) count += 1
  return count
}
