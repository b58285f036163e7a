/** Answers the queries of the document server: passages, lists of documents, or the text of one. */
import { join } from 'node:path'
import { LruMap } from '../../../async/lru.ts'
import { fail } from '../../../errors/parley-error.ts'
import { highlightsOf } from './highlight.ts'
import { HiddenDocuments } from './hidden-documents.ts'
import { load, type LoadedFile, type Unpack } from '../collect/load.ts'
import type { PassageFilter, IndexReader, PassageRow } from '../store/index-reader.ts'
import { inPassage, type Plan, plansFor, type Term, termsOf } from './plan.ts'
import type {
  DocumentHit,
  DocumentIndex,
  DocumentList,
  DocumentOutline,
  Excerpt,
  ListRequest,
  OutlineRequest,
  HitPage,
  PassageHit,
  PassagePage,
  ReadDocumentRequest,
  Scoped,
  SearchDocumentsRequest,
  ServedCollection,
  Shown,
  ShowRequest,
} from '../worker/protocol.ts'
import { RERANKED_PASSAGES, type Ranked } from './ranking.ts'
import { excerptOf, infoOf, type LoadedDocument, documentOutlineOf } from '../document/reading.ts'
import { type FoundRows, shownOf } from '../document/showing.ts'
import { lineAt, snippetOf } from './snippet.ts'
import type { IndexStatus } from '../store/index-status.ts'
import type { IndexableFile as File } from '../collect/walk.ts'

/** Clients give a tool half a minute or more. */
const FIRST_INDEX_TIMEOUT_MS = 20_000
const MAX_CACHED_QUERIES = 64
const MAX_SNIPPET_CHARS = 1_000
const MAX_DESCRIPTION_CHARS = 200

interface QueryServiceParts {
  readonly lookup: IndexReader
  readonly standing: IndexStatus
  readonly unpack: Unpack
}

interface FoundPassages {
  readonly plan: Plan
  readonly total: number
  /** The best passages in order, once they were requested. */
  best?: readonly Ranked[]
}

export class QueryService implements DocumentIndex {
  readonly #lookup: IndexReader
  readonly #standing: IndexStatus
  readonly #load: (found: FoundFile) => Promise<LoadedFile>
  readonly #hidden: HiddenDocuments
  readonly #lately = new LruMap<string, FoundPassages>(MAX_CACHED_QUERIES)

  constructor({ lookup, standing, unpack }: QueryServiceParts) {
    this.#lookup = lookup
    this.#standing = standing
    this.#hidden = new HiddenDocuments(lookup)
    this.#load = cached((found) => load(found, unpack))
  }

  async passages(request: SearchDocumentsRequest): Promise<PassagePage> {
    const present = await this.#ready(request)
    return this.#lookup.snapshot(() => {
      const filter = this.#filter(request, present)
      const found = this.#found(request, filter)
      const { plan, total } = found
      const hits = this.#lookup.passages(this.#ranked(found, filter, request)).map((row) => passageHit(row, plan.terms))
      return { ...this.#page(request, { total, hits }, present), match: plan.match }
    })
  }

  /** A reader who turns pages or opens a hit repeats the query, and the index has often not changed since. */
  #found(request: Pick<SearchDocumentsRequest, 'query' | 'mode'>, filter: PassageFilter): FoundPassages {
    const asked = JSON.stringify([this.#lookup.generation, request.query, request.mode, filter])
    return this.#lately.getOrMake(asked, () => this.#firstThatFinds(plansFor(request), filter))
  }

  #ranked(found: FoundPassages, filter: PassageFilter, { offset, limit }: SearchDocumentsRequest): readonly Ranked[] {
    const wanted = { ...found.plan, ...filter }
    if (offset + limit > RERANKED_PASSAGES) return this.#lookup.ranked({ ...wanted, offset, limit })
    found.best ??= this.#lookup.ranked({ ...wanted, offset: 0, limit: RERANKED_PASSAGES })
    return found.best.slice(offset, offset + limit)
  }

  /** The first plan that finds enough; else the last that finds more than those before it. */
  #firstThatFinds(plans: readonly Plan[], filter: PassageFilter): FoundPassages {
    let best: FoundPassages | undefined
    for (const plan of plans) {
      const total = this.#lookup.countPassages({ ...plan, ...filter })
      if (best === undefined || total > best.total) best = { plan, total }
      if (best.total >= plan.enough) return best
    }
    return best ?? fail('DOCS_INDEX_UNAVAILABLE', { reason: 'the query asks for nothing' })
  }

  async documents(request: SearchDocumentsRequest): Promise<HitPage<DocumentHit>> {
    const present = await this.#ready(request)
    const terms = termsOf(request.query)
    const { offset, limit } = request
    return this.#lookup.snapshot(() => {
      const wanted = { ...this.#filter(request, present), all: terms.map(inPassage), offset, limit }
      const { total, rows } = this.#lookup.documents(wanted)
      return this.#page(request, { total, hits: rows.map((row) => documentHit(row, terms)) }, present)
    })
  }

  async read(request: ReadDocumentRequest): Promise<Excerpt> {
    return excerptOf(await this.#open(request), request)
  }

  async outline(request: OutlineRequest): Promise<DocumentOutline> {
    return documentOutlineOf(await this.#open(request))
  }

  async show(request: ShowRequest): Promise<Shown> {
    const loaded = await this.#open(request)
    const none = { rows: [], terms: [] }
    return shownOf(loaded, request, request.search === undefined ? none : await this.#within(loaded, request))
  }

  /** The passages of this document that the search found, by the plan that answered the search. */
  async #within({ row }: LoadedDocument, { search, ...request }: ShowRequest): Promise<FoundRows> {
    const asked = { query: '', mode: 'best', ...search } as const
    const present = await this.#ready(request)
    return this.#lookup.snapshot(() => {
      const { plan } = this.#found(asked, this.#filter(request, present))
      return { rows: this.#lookup.passagesOf(row.document, plan.expression), terms: plan.terms }
    })
  }

  async list({ after = '', limit, prefix = '', ...scoped }: ListRequest): Promise<DocumentList> {
    const present = await this.#ready(scoped)
    const scope = present.map(({ id }) => id)
    return this.#lookup.snapshot(() => {
      const listed = { scope, prefix, hidden: this.#hidden.among(present, scoped.access) }
      const rows = this.#lookup.list({ ...listed, after, limit: limit + 1 })
      const documents = rows.slice(0, limit).map(infoOf)
      const next = rows.length > limit ? documents.at(-1)?.uri : undefined
      return {
        total: this.#lookup.countList(listed),
        documents,
        ...(next === undefined ? {} : { next }),
        ...this.#notice(scoped, present),
      }
    })
  }

  async #open(request: OutlineRequest): Promise<LoadedDocument> {
    const present = await this.#ready(request)
    const uri = canonicalUri(request.uri)
    this.#hidden.requireOpen(uri, present, request.access)
    const row = this.#lookup.document(uri)
    const root = present.find(({ id }) => id === row?.collection)?.real ?? null
    if (row === undefined || root === null) return fail('DOCUMENT_UNKNOWN', { uri })
    const found = { ...row, root, path: join(root, row.file) }
    const loaded = await this.#load(found).catch((error: unknown) => fail('DOCUMENT_UNKNOWN', { uri }, error))
    return 'outline' in loaded ? { row, outline: loaded.outline } : fail('DOCUMENT_UNKNOWN', { uri })
  }

  /**
   * Which of the collections are there. A search waits for the first index, though not for ever, and never takes an index
   * that failed, or directories that are gone, for empty ones.
   */
  async #ready({
    collections: names,
    patienceMs = FIRST_INDEX_TIMEOUT_MS,
  }: Scoped): Promise<readonly ServedCollection[]> {
    const settled = await this.#standing.settled(patienceMs)
    if (settled && !this.#lookup.complete)
      fail('DOCS_INDEX_UNAVAILABLE', { reason: 'they could not be looked through' })
    const present = this.#standing.served.filter((served) => names.includes(served.name) && served.present)
    if (present.length > 0) return present
    return fail('DOCS_DIRECTORY_GONE', { directories: names.length === 0 ? 'every collection' : names.join(', ') })
  }

  #filter(
    { updatedAfter, access }: Scoped & Pick<SearchDocumentsRequest, 'updatedAfter'>,
    present: readonly ServedCollection[],
  ): PassageFilter {
    const scope = present.map(({ id }) => id)
    return {
      scope: this.#lookup.holdsOnly(scope) ? null : scope,
      hidden: this.#hidden.among(present, access),
      ...(updatedAfter === undefined ? {} : { updatedAfter }),
    }
  }

  #page<Hit>(
    request: SearchDocumentsRequest,
    found: Pick<HitPage<Hit>, 'total' | 'hits'>,
    present: readonly ServedCollection[],
  ): HitPage<Hit> {
    return { ...found, generation: this.#lookup.generation, ...this.#notice(request, present) }
  }

  #notice({ collections, access }: Scoped, present: readonly ServedCollection[]): { readonly notice?: string } {
    const standing = this.#standing.noticeFor(collections, this.#lookup.complete)
    const notices = [standing ?? [], this.#hidden.notice(present, access) ?? []].flat()
    return notices.length === 0 ? {} : { notice: notices.join(' ') }
  }
}

type FoundFile = Pick<File, 'root' | 'path' | 'bytes' | 'stamp'>

const MAX_CACHED_DOCUMENTS = 8

/** A reader of a document usually reads on in it, and some documents take seconds to unpack. */
function cached(read: (found: FoundFile) => Promise<LoadedFile>): (found: FoundFile) => Promise<LoadedFile> {
  const remembered = new LruMap<string, Promise<LoadedFile>>(MAX_CACHED_DOCUMENTS)
  return (found) => {
    const name = `${found.path}\n${found.stamp}`
    const loading = remembered.getOrMake(name, () => read(found))
    loading.catch(() => remembered.delete(name))
    return loading
  }
}

/** The address as the index writes it, without its fragment; clients may encode other characters than we do. */
function canonicalUri(address: string): string {
  const uri = address.split('#', 1)[0] ?? ''
  const [, name = '', path = ''] = /^doc:\/\/([^/]*)\/(.*)$/s.exec(uri) ?? []
  try {
    const segments = [name, ...path.split('/')].map((segment) => encodeURIComponent(decodeURIComponent(segment)))
    return path === '' ? uri : `doc://${segments.join('/')}`
  } catch {
    // Not encoded as addresses are, so it names nothing; the caller says so.
    return uri
  }
}

function documentHit(row: PassageRow, terms: readonly Term[]): DocumentHit {
  const snippet = snippetOf(row.text, highlightsOf(row.text, terms), MAX_DESCRIPTION_CHARS).text
  return { ...infoOf(row), collectionId: row.collection, snippet }
}

function passageHit(row: PassageRow, terms: readonly Term[]): PassageHit {
  const matches = highlightsOf(row.text, terms)
  const snippet = snippetOf(row.text, matches, MAX_SNIPPET_CHARS)
  return {
    title: row.title,
    headingPath: JSON.parse(row.headingPath) as readonly string[],
    collection: row.name,
    file: row.file,
    line: lineAt(row.text, matches[0]?.[0] ?? 0, row.line),
    snippet: snippet.text,
    highlights: snippet.highlights,
    // SQLite's is smaller for better matches.
    score: Number((-row.rank).toPrecision(6)),
    modified: row.modified,
    uri: `${row.uri}#L${row.line}`,
  }
}
