/** Answers what the server asks of the index: passages, whole documents, or the text of one. */
import { fail } from '../../errors/parley-error.ts'
import { fold } from '../../text/fold.ts'
import { asOnePhrase, findMatches, type Part, parseQuery, phrase } from '../../text/query.ts'
import type { Database, PassageRow, Wanted } from './database.ts'
import type { Indexer } from './indexer.ts'
import { load } from './load.ts'
import type { Outline } from './outline.ts'
import { type Section, sectionsOf, titleOf } from './passages.ts'
import type { DocumentHit, DocumentIndex, Excerpt, Page, PassageHit, ReadRequest, SearchRequest } from './protocol.ts'
import { lineAt, snippetOf } from './snippet.ts'

const LONGEST_SNIPPET = 1_000
const LONGEST_DESCRIPTION = 200
const SECTIONS_NAMED = 30

export class Search implements DocumentIndex {
  readonly #database: Database
  readonly #indexer: Indexer

  constructor(database: Database, indexer: Indexer) {
    this.#database = database
    this.#indexer = indexer
  }

  async passages(request: SearchRequest): Promise<Page<PassageHit>> {
    await this.#ready()
    const parts = parseQuery(request.query)
    const wanted = wantedBy(parts, request)
    const total = this.#database.countPassages(wanted)
    return this.#page(
      total,
      this.#database.passages(wanted).map((row) => passageHit(row, parts)),
    )
  }

  async documents(request: SearchRequest): Promise<Page<DocumentHit>> {
    await this.#ready()
    const parts = parseQuery(request.query)
    const wanted = wantedBy(parts, request)
    const total = this.#database.countDocuments(wanted)
    return this.#page(
      total,
      this.#database.documents(wanted).map((row) => this.#documentHit(row, parts)),
    )
  }

  async read(request: ReadRequest): Promise<Excerpt> {
    await this.#ready()
    const [uri = '', fragment] = request.uri.split('#', 2)
    const found = this.#indexer.find(uri)
    if (found === undefined) return fail('DOCUMENT_UNKNOWN', { uri })
    const loaded = await load(found).catch((error: unknown) => fail('DOCUMENT_UNKNOWN', { uri }, error))
    if (!('outline' in loaded)) return fail('DOCUMENT_UNKNOWN', { uri })
    return excerpt(loaded.outline, uri, { ...request, fromLine: Number(/^L(\d+)$/.exec(fragment ?? '')?.[1] ?? 1) })
  }

  /** A search waits for the first index, and never takes an index that failed for an empty one. */
  async #ready(): Promise<void> {
    await this.#indexer.first
    const { directories, present, generation } = this.#indexer
    if (generation === 0) fail('DOCS_INDEX_UNAVAILABLE', { reason: 'they could not be looked through' })
    if (present.includes(true)) return
    fail('DOCS_DIRECTORY_GONE', { directories: directories.map(({ path }) => path).join(', ') })
  }

  #page<Hit>(total: number, hits: readonly Hit[]): Page<Hit> {
    const { generation, notice } = this.#indexer
    return { total, hits, generation, ...(notice === undefined ? {} : { notice }) }
  }

  #documentHit(row: PassageRow, parts: readonly Part[]): DocumentHit {
    const { path = '', label = '' } = this.#indexer.directories[row.directory] ?? {}
    return {
      id: row.document,
      title: row.title,
      file: row.file,
      directory: { id: row.directory + 1, label, path },
      snippet: snippetOf(row.text, findMatches(row.text, parts), LONGEST_DESCRIPTION).text,
      created: row.created,
      modified: row.modified,
    }
  }
}

function wantedBy(parts: readonly Part[], { offset, limit }: SearchRequest): Wanted {
  return { all: parts.map(phrase), phrase: asOnePhrase(parts), offset, limit }
}

function passageHit(row: PassageRow, parts: readonly Part[]): PassageHit {
  const matches = findMatches(row.text, parts)
  const snippet = snippetOf(row.text, matches, LONGEST_SNIPPET)
  return {
    title: row.title,
    headingPath: JSON.parse(row.headingPath) as readonly string[],
    file: row.file,
    line: lineAt(row.text, matches[0]?.[0] ?? 0, row.line),
    snippet: snippet.text,
    highlights: snippet.highlights,
    // SQLite's is smaller for better matches.
    score: Number((-row.rank).toPrecision(6)),
    uri: `${row.uri}#L${row.line}`,
  }
}

function excerpt(outline: Outline, uri: string, request: ReadRequest & { readonly fromLine: number }): Excerpt {
  const { text } = outline
  const section = request.section === undefined ? undefined : sectionNamed(outline, uri, request.section)
  const from = request.offset ?? section?.start ?? startOfLine(text, request.fromLine)
  const bound = section?.end ?? text.length
  const end = Math.min(bound, from + request.limit) === bound ? bound : lineEndBefore(text, from, from + request.limit)
  return {
    uri,
    title: titleOf(outline, decodeURIComponent(uri.slice(uri.lastIndexOf('/') + 1))),
    file: decodeURIComponent(uri.replace(/^doc:\/\/[^/]*\//, '')),
    line: lineAt(text, from, 1),
    text: text.slice(from, end).replaceAll('\u2029', '\n'),
    offset: Math.min(from, text.length),
    ...(end < bound ? { nextOffset: end } : {}),
    totalCharacters: text.length,
  }
}

/** A section with all that stands under it. Named by its heading, or by the headings above it too: `Setup > Linux`. */
function sectionNamed(outline: Outline, uri: string, name: string): Pick<Section, 'start' | 'end'> {
  const sections = sectionsOf(outline)
  const wanted = fold(name).trim()
  const path = ({ headingPath }: Section) => fold(headingPath.join(' > '))
  const at = sections.findIndex((section) => path(section) === wanted || path(section).endsWith(` > ${wanted}`))
  const found = sections[at]
  if (found === undefined) {
    const names = sections.map(({ headingPath }) => headingPath.join(' > ')).filter((path) => path !== '')
    return fail('DOCUMENT_SECTION_UNKNOWN', {
      uri,
      section: name.slice(0, 100),
      sections: names.slice(0, SECTIONS_NAMED).join('; ') || 'none',
    })
  }
  const depth = found.headingPath.length
  const after = sections.slice(at + 1).find(({ headingPath }) => headingPath.length <= depth)
  return { start: found.start, end: after?.start ?? outline.text.length }
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
