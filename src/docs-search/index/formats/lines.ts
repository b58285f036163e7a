/** Walks over the lines of a text with their offsets. */

export interface SourceLine {
  readonly text: string
  readonly start: number
  /** The offset after the last character, before the line end. */
  readonly end: number
}

export function linesWithOffsets(text: string): readonly SourceLine[] {
  const lines: SourceLine[] = []
  let start = 0
  for (const line of text.split('\n')) {
    lines.push({ text: line, start, end: start + line.length })
    start += line.length + 1
  }
  return lines
}

/** A heading without the markup inside it. */
export function plainTitle(markup: string): string {
  return markup
    .slice(0, 300)
    .replace(/!?\[([^\][]*)\]\([^()]*\)/g, '$1')
    .replace(/[*`]+/g, '')
    .trim()
}
