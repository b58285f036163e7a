/** Which files are documents, and how each kind is read. */
import { asciidoc } from './formats/asciidoc.ts'
import { html } from './formats/html.ts'
import { markdown } from './formats/markdown.ts'
import { restructuredText } from './formats/restructured-text.ts'
import type { Outline } from './outline.ts'

export interface Format {
  /** Of the text that is given of the document, which is not always that of the file. */
  readonly mimeType: string
  readonly read: (source: string) => Outline
}

const PLAIN: Format = { mimeType: 'text/plain', read: (text) => ({ text, headings: [] }) }

const FORMATS: readonly (readonly [extensions: string, format: Format])[] = [
  ['md markdown mdown mkd mdx', { mimeType: 'text/markdown', read: markdown }],
  ['rst rest', { mimeType: 'text/x-rst', read: restructuredText }],
  ['adoc asciidoc asc', { mimeType: 'text/asciidoc', read: asciidoc }],
  ['html htm xhtml', { mimeType: 'text/plain', read: html }],
  ['txt text', PLAIN],
]

const BY_EXTENSION: ReadonlyMap<string, Format> = new Map(
  FORMATS.flatMap(([extensions, format]) => extensions.split(' ').map((extension) => [extension, format] as const)),
)

const PLAIN_NAMES =
  /^(?:readme|license|licence|copying|notice|changelog|changes|news|authors|contributing|install|todo)$/i

/** Undefined for a file that is not a document. */
export function formatOf(fileName: string): Format | undefined {
  const dot = fileName.lastIndexOf('.')
  if (dot > 0) return BY_EXTENSION.get(fileName.slice(dot + 1).toLowerCase())
  return PLAIN_NAMES.test(fileName) ? PLAIN : undefined
}
