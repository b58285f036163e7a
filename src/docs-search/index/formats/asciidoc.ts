/** Headings of AsciiDoc: lines of `=` and a title, none inside delimited blocks. */
import type { Heading, Outline } from '../document/outline.ts'
import { linesWithOffsets, plainTitle } from './lines.ts'

const HEADING = /^(={1,6})\s+(?=\S)/
const DELIMITER = /^(?:-{4,}|\.{4,}|\+{4,}|\/{4,}|_{4,}|`{3,})\s*$/

export function asciidoc(text: string): Outline {
  const headings: Heading[] = []
  let block: string | undefined
  for (const line of linesWithOffsets(text)) {
    const delimiter = DELIMITER.test(line.text) ? line.text.trimEnd() : undefined
    if (block !== undefined) {
      if (delimiter === block) block = undefined
      continue
    }
    block = delimiter
    const marks = HEADING.exec(line.text)?.[1]
    if (marks === undefined) continue
    const title = plainTitle(line.text.slice(marks.length))
    headings.push({ level: marks.length, title, start: line.start, end: line.end })
  }
  return { text, headings }
}
