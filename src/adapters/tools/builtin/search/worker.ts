/** The thread that runs patterns: it alone is lost when one takes for ever. */
import { parentPort } from 'node:worker_threads'
import type { Asked, Matches } from './matching.ts'

/** A longer line is looked at up to here. Characters. */
const LONGEST_LINE = 20_000

parentPort?.on('message', ({ id, source, flags, text, most }: Asked) => {
  const answer: Matches = { id, lines: matchesIn(text, { pattern: new RegExp(source, flags), most }) }
  parentPort?.postMessage(answer)
})

function matchesIn(
  text: string,
  { pattern, most }: { readonly pattern: RegExp; readonly most: number },
): Matches['lines'] {
  const found: { line: number; at: number }[] = []
  for (const [index, line] of text.split(/\r\n|\n/u).entries()) {
    const at = line.slice(0, LONGEST_LINE).search(pattern)
    if (at >= 0) found.push({ line: index + 1, at })
    if (found.length === most) break
  }
  return found
}
