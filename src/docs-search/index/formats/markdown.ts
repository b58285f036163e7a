/** Headings of Markdown: `#` and underlined ones, none inside code fences, and the title of a front matter. */
import type { Heading, Outline } from '../document/outline.ts'
import { type SourceLine, linesWithOffsets, plainTitle } from './lines.ts'

const FENCE = /^ {0,3}(`{3,}|~{3,})/
const HASHES = /^ {0,3}(#{1,6})(?:[ \t]|$)/
const UNDERLINE = /^ {0,3}(=+|-+)[ \t]*$/
/** A line above an underline is a heading only if it is plain text. */
const NOT_PLAIN = /^(?: {4}|\t| {0,3}(?:[>|#]|[-*+] |\d+[.)] ))|^\s*$/

export function markdown(text: string): Outline {
  const lines = linesWithOffsets(text)
  const body = frontMatterEnd(lines)
  const title = frontMatterTitle(lines.slice(0, body))
  return { text, ...(title === undefined ? {} : { title }), headings: headings(lines.slice(body)) }
}

function frontMatterEnd(lines: readonly SourceLine[]): number {
  if (lines[0]?.text.trimEnd() !== '---') return 0
  const end = lines.findIndex((line, i) => i > 0 && /^(?:---|\.\.\.)\s*$/.test(line.text))
  return end + 1
}

function frontMatterTitle(lines: readonly SourceLine[]): string | undefined {
  const line = lines.find(({ text }) => text.startsWith('title:'))?.text.slice('title:'.length)
  const title = line
    ?.trim()
    .slice(0, 300)
    .replace(/^(["'])(.*)\1$/, '$2')
  return title === '' ? undefined : title
}

function headings(lines: readonly SourceLine[]): readonly Heading[] {
  const found: Heading[] = []
  let fence: string | undefined
  for (const [i, line] of lines.entries()) {
    const mark = FENCE.exec(line.text)?.[1]
    if (fence !== undefined) {
      if (mark?.startsWith(fence) === true && line.text.trim() === mark) fence = undefined
      continue
    }
    fence = mark
    const heading = hashed(line) ?? underlined(lines[i - 1], line)
    if (heading !== undefined) found.push(heading)
  }
  return found
}

function hashed(line: SourceLine): Heading | undefined {
  const level = HASHES.exec(line.text)?.[1]?.length
  if (level === undefined) return undefined
  const markup = line.text.trim().slice(level).trim()
  const closing = markup.search(/(?:^|[ \t])#+$/)
  const title = plainTitle(closing < 0 ? markup : markup.slice(0, closing))
  return { level, title, start: line.start, end: line.end }
}

function underlined(above: SourceLine | undefined, line: SourceLine): Heading | undefined {
  const mark = UNDERLINE.exec(line.text)?.[1]
  if (mark === undefined || above === undefined || NOT_PLAIN.test(above.text) || UNDERLINE.test(above.text))
    return undefined
  return { level: mark.startsWith('=') ? 1 : 2, title: plainTitle(above.text), start: above.start, end: line.end }
}
