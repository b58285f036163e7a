/** Which files are documents, and how each kind is read. */
import { asciidoc } from './formats/asciidoc.ts'
import { html } from './formats/html.ts'
import { markdown } from './formats/markdown.ts'
import { restructuredText } from './formats/restructured-text.ts'
import type { Outline } from './outline.ts'

export type Format = (source: string) => Outline

const plain: Format = (text) => ({ text, headings: [] })

const BY_EXTENSION: ReadonlyMap<string, Format> = new Map([
  ...['md', 'markdown', 'mdown', 'mkd', 'mdx'].map((extension) => [extension, markdown] as const),
  ...['rst', 'rest'].map((extension) => [extension, restructuredText] as const),
  ...['adoc', 'asciidoc', 'asc'].map((extension) => [extension, asciidoc] as const),
  ...['html', 'htm', 'xhtml'].map((extension) => [extension, html] as const),
  ...['txt', 'text'].map((extension) => [extension, plain] as const),
])

const PLAIN_NAMES =
  /^(?:readme|license|licence|copying|notice|changelog|changes|news|authors|contributing|install|todo)$/i

/** Undefined for a file that is not a document. */
export function formatOf(fileName: string): Format | undefined {
  const dot = fileName.lastIndexOf('.')
  if (dot > 0) return BY_EXTENSION.get(fileName.slice(dot + 1).toLowerCase())
  return PLAIN_NAMES.test(fileName) ? plain : undefined
}
