/** Headings of reStructuredText: a line of punctuation under the title, and maybe one above; the order of use is the level. */
import type { Heading, Outline } from '../document/outline.ts'
import { type SourceLine, linesWithOffsets, plainTitle } from './lines.ts'

const ADORNMENT = /^([!-/:-@[-`{-~])\1{2,}\s*$/

export function restructuredText(text: string): Outline {
  const lines = linesWithOffsets(text)
  const styles: string[] = []
  const headings: Heading[] = []
  for (const [i, line] of lines.entries()) {
    const above = lines[i - 1]
    if (above === undefined || !isTitle(above) || !ADORNMENT.test(line.text)) continue
    // An overline without its underline below is the start of a table or a transition.
    if (line.text.trimEnd().length < above.text.trim().length) continue
    const over = lines[i - 2]?.text.trimEnd() === line.text.trimEnd() ? lines[i - 2] : undefined
    const style = `${line.text.charAt(0)}${over === undefined ? '' : 'over'}`
    if (!styles.includes(style)) styles.push(style)
    const title = plainTitle(above.text)
    headings.push({ level: styles.indexOf(style) + 1, title, start: (over ?? above).start, end: line.end })
  }
  return { text, headings }
}

function isTitle(line: SourceLine): boolean {
  return line.text.trim() !== '' && !ADORNMENT.test(line.text)
}
