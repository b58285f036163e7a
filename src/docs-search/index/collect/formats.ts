/** Which files are documents, and how each kind is read. */
import { asciidoc } from '../formats/asciidoc.ts'
import { outlineOfHtml } from '../formats/html.ts'
import { markdown } from '../formats/markdown.ts'
import { restructuredText } from '../formats/restructured-text.ts'
import type { Outline } from '../document/outline.ts'

/** Formats that a library of `extract/` reads. */
export type PackedFormat = 'pdf' | 'docx' | 'epub'

interface FormatLimits {
  /** Of the text that is given of the document, which is not always that of the file. */
  readonly mimeType: string
  /** In bytes; a larger file is skipped. */
  readonly largest: number
}

export type Format =
  | (FormatLimits & { readonly read: (source: string) => Outline })
  | (FormatLimits & { readonly packed: PackedFormat })

const MAX_TEXT_BYTES = 5_000_000
const MAX_PACKED_BYTES = 50_000_000

const text = (mimeType: string, read: (source: string) => Outline): Format => ({
  mimeType,
  largest: MAX_TEXT_BYTES,
  read,
})
const packed = (kind: PackedFormat): Format => ({ mimeType: 'text/plain', largest: MAX_PACKED_BYTES, packed: kind })
const plainText = (source: string): Outline => ({ text: source, headings: [] })

const PLAIN = text('text/plain', plainText)

const DOCUMENTS: readonly (readonly [extensions: string, format: Format])[] = [
  ['md markdown mdown mkd mdx', text('text/markdown', markdown)],
  ['rst rest', text('text/x-rst', restructuredText)],
  ['adoc asciidoc asc', text('text/asciidoc', asciidoc)],
  ['html htm xhtml', text('text/plain', outlineOfHtml)],
  ['txt text', PLAIN],
  ['pdf', packed('pdf')],
  ['docx', packed('docx')],
  ['epub', packed('epub')],
]

const CODE =
  'bash bat c cc clj cljs cpp cs css cxx dart ex exs fish fs go gradle graphql groovy h hh hpp hs java jl js jsx kt kts less lua m mjs cjs mm ml mli nim nix php pl pm proto ps1 py pyi r rb rs sass scala scss sh sol sql svelte swift tf toml ts tsx mts cts v vim vue yaml yml zig zsh'

const BY_EXTENSION = byExtension(DOCUMENTS)
const CODE_BY_EXTENSION = byExtension([[CODE, PLAIN]])

function byExtension(rows: typeof DOCUMENTS): ReadonlyMap<string, Format> {
  return new Map(
    rows.flatMap(([extensions, format]) => extensions.split(' ').map((extension) => [extension, format] as const)),
  )
}

const PLAIN_NAMES =
  /^(?:readme|license|licence|copying|notice|changelog|changes|news|authors|contributing|install|todo)$/i
const CODE_NAMES = /^(?:makefile|dockerfile|rakefile|gemfile|justfile)$/i

/** Undefined for a file that is not a document. Source code is one where it is asked for. */
export function documentFormatOf(fileName: string, code = false): Format | undefined {
  const dot = fileName.lastIndexOf('.')
  if (dot > 0) {
    const extension = fileName.slice(dot + 1).toLowerCase()
    return BY_EXTENSION.get(extension) ?? (code ? CODE_BY_EXTENSION.get(extension) : undefined)
  }
  return PLAIN_NAMES.test(fileName) || (code && CODE_NAMES.test(fileName)) ? PLAIN : undefined
}
