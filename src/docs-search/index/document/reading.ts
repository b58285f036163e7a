/** The text of one document, whole or in pieces, and its outline. */
import { fail } from '../../../errors/parley-error.ts'
import type { DocumentRow } from '../store/index-reader.ts'
import type { Outline } from './outline.ts'
import type { DocumentInfo, DocumentOutline, Excerpt, ReadDocumentRequest } from '../worker/protocol.ts'
import { namedHeadings, sectionNamed, sectionNames } from './sections.ts'
import { lineAt } from '../query/snippet.ts'

const MAX_SECTIONS_NAMED = 30
export const MAX_HEADINGS = 1_000

export interface LoadedDocument {
  readonly row: DocumentRow
  readonly outline: Outline
}

export function infoOf(row: DocumentRow): DocumentInfo {
  const { document, uri, title, name, file, mimeType, bytes, created, modified } = row
  return { id: document, uri, title, collection: name, file, mimeType, bytes, created, modified }
}

export function documentOutlineOf({ row, outline }: LoadedDocument): DocumentOutline {
  let line = 1
  let at = 0
  const headings = namedHeadings(outline)
    .slice(0, MAX_HEADINGS)
    .map(({ level, title, start, slug }) => {
      line = lineAt(outline.text.slice(at), start - at, line)
      at = start
      return { level, title, line, uri: `${row.uri}#${encodeURIComponent(slug)}` }
    })
  return { ...infoOf(row), headings, totalCharacters: outline.text.length }
}

export function excerptOf({ row, outline }: LoadedDocument, request: ReadDocumentRequest): Excerpt {
  const { text } = outline
  const { section, line } = requestedPart(outline, request)
  const from = request.offset ?? section?.start ?? startOfLine(text, line)
  const bound = section?.end ?? text.length
  const end = Math.min(bound, from + request.limit) === bound ? bound : lineEndBefore(text, from, from + request.limit)
  return {
    uri: row.uri,
    title: row.title,
    file: row.file,
    mimeType: row.mimeType,
    line: lineAt(text, from, 1),
    text: text.slice(from, end).replaceAll('\u2029', '\n'),
    offset: Math.min(from, text.length),
    ...(end < bound ? { nextOffset: end } : {}),
    totalCharacters: text.length,
  }
}

interface RequestedPart {
  readonly section: { readonly start: number; readonly end: number } | undefined
  readonly line: number
}

/** The part that the request names: a section by argument or by fragment, else the line of the fragment. */
function requestedPart(outline: Outline, { uri, section }: ReadDocumentRequest): RequestedPart {
  const fragment = uri.split('#', 2)[1] ?? ''
  const line = /^L(\d+)$/.exec(fragment)?.[1]
  const name = section ?? (line === undefined && fragment !== '' ? decodeFragment(fragment) : undefined)
  if (name === undefined) return { section: undefined, line: Number(line ?? 1) }
  const found = sectionNamed(outline, name)
  if (found !== undefined) return { section: found, line: 1 }
  return fail('DOCUMENT_SECTION_UNKNOWN', {
    uri: uri.split('#', 1)[0] ?? '',
    section: name.slice(0, 100),
    sections: sectionNames(outline).slice(0, MAX_SECTIONS_NAMED).join('; ') || 'none',
  })
}

function decodeFragment(fragment: string): string {
  try {
    return decodeURIComponent(fragment)
  } catch {
    // Not encoded as addresses are; it may still be the name as it is written.
    return fragment
  }
}

function startOfLine(text: string, line: number): number {
  let start = 0
  for (let at = 1; at < line; at++) {
    const next = text.indexOf('\n', start)
    if (next < 0) return start
    start = next + 1
  }
  return start
}

/** Cuts at the end of a line where one is near, and never inside a character. */
function lineEndBefore(text: string, from: number, at: number): number {
  const line = text.lastIndexOf('\n', at - 1) + 1
  if (line > from + (at - from) / 2) return line
  const unit = text.charCodeAt(at)
  return unit >= 0xdc00 && unit < 0xe000 && at - 1 > from ? at - 1 : at
}
