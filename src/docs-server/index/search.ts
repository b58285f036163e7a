/** Answers what the server asks of the index: passages, documents, or the text of one. */
import { fail } from '../../errors/parley-error.ts'
import type { Database, Filter, PassageRow } from './database.ts'
import { highlightsOf } from './highlight.ts'
import type { Indexer } from './indexer.ts'
import { load, type Loaded as LoadedFile, type Unpack } from './load.ts'
import { inPassage, type Plan, plansFor, type Term, termsOf } from './plan.ts'
import type {
  DocumentHit,
  DocumentIndex,
  DocumentList,
  DocumentOutline,
  Excerpt,
  ListRequest,
  OutlineRequest,
  Page,
  PassageHit,
  PassagePage,
  ReadRequest,
  Scoped,
  SearchRequest,
  Shown,
  ShowRequest,
} from './protocol.ts'
import { excerptOf, infoOf, type Loaded, outlineOf } from './reading.ts'
import type { Served } from './served.ts'
import { type FoundRows, shownOf } from './showing.ts'
import { lineAt, snippetOf } from './snippet.ts'
import type { FoundFile as File } from './walk.ts'

/** Clients give a tool half a minute or more. */
const PATIENCE_MS = 20_000
const LONGEST_SNIPPET = 1_000
const LONGEST_DESCRIPTION = 200

interface SearchParts {
  readonly database: Database
  readonly indexer: Indexer
  readonly unpack: Unpack
}

export class Search implements DocumentIndex {
  readonly #database: Database
  readonly #indexer: Indexer
  readonly #load: (found: FoundFile) => Promise<LoadedFile>

  constructor({ database, indexer, unpack }: SearchParts) {
    this.#database = database
    this.#indexer = indexer
    this.#load = remembering((found) => load(found, unpack))
  }

  async passages(request: SearchRequest): Promise<PassagePage> {
    const present = await this.#ready(request)
    const filter = this.#filter(request, present)
    const { plan, total } = this.#firstThatFinds(plansFor(request), filter)
    const rows = this.#database.passages({ ...plan, ...filter, offset: request.offset, limit: request.limit })
    const page = this.#page(request, { total, hits: rows.map((row) => passageHit(row, plan.terms)) })
    return { ...page, match: plan.match }
  }

  /** The first plan that finds enough; else the last that finds more than those before it. */
  #firstThatFinds(plans: readonly Plan[], filter: Filter): { readonly plan: Plan; readonly total: number } {
    let best: { readonly plan: Plan; readonly total: number } | undefined
    for (const plan of plans) {
      const total = this.#database.countPassages({ ...plan, ...filter })
      if (best === undefined || total > best.total) best = { plan, total }
      if (best.total >= plan.enough) return best
    }
    return best ?? fail('DOCS_INDEX_UNAVAILABLE', { reason: 'the query asks for nothing' })
  }

  async documents(request: SearchRequest): Promise<Page<DocumentHit>> {
    const present = await this.#ready(request)
    const terms = termsOf(request.query)
    const { offset, limit } = request
    const wanted = { ...this.#filter(request, present), all: terms.map(inPassage), offset, limit }
    const total = this.#database.countDocuments(wanted)
    return this.#page(request, {
      total,
      hits: this.#database.documents(wanted).map((row) => documentHit(row, terms)),
    })
  }

  async read(request: ReadRequest): Promise<Excerpt> {
    return excerptOf(await this.#open(request), request)
  }

  async outline(request: OutlineRequest): Promise<DocumentOutline> {
    return outlineOf(await this.#open(request))
  }

  async show(request: ShowRequest): Promise<Shown> {
    const loaded = await this.#open(request)
    const none = { rows: [], terms: [] }
    return shownOf(loaded, request, request.search === undefined ? none : await this.#within(loaded, request))
  }

  /** What the search found in this document, by the plan that it was answered with. */
  async #within({ row }: Loaded, { collections, search }: ShowRequest): Promise<FoundRows> {
    const asked = { query: '', mode: 'best', ...search } as const
    const filter = this.#filter({}, await this.#ready({ collections }))
    const { plan } = this.#firstThatFinds(plansFor(asked), filter)
    return { rows: this.#database.passagesOf(row.document, plan.expression), terms: plan.terms }
  }

  async list({ after = '', limit, prefix = '', ...scoped }: ListRequest): Promise<DocumentList> {
    const scope = (await this.#ready(scoped)).map(({ id }) => id)
    const rows = this.#database.list(scope, { after, limit: limit + 1, prefix })
    const documents = rows.slice(0, limit).map(infoOf)
    const next = rows.length > limit ? documents.at(-1)?.uri : undefined
    const notice = this.#indexer.noticeFor(scoped.collections)
    return {
      total: this.#database.countList(scope, prefix),
      documents,
      ...(next === undefined ? {} : { next }),
      ...(notice === undefined ? {} : { notice }),
    }
  }

  async #open(request: OutlineRequest): Promise<Loaded> {
    const present = await this.#ready(request)
    const uri = canonical(request.uri)
    const names = present.map(({ collection }) => collection.name)
    const [found, row] = [this.#indexer.find(uri, names), this.#database.document(uri)]
    if (found === undefined || row === undefined) return fail('DOCUMENT_UNKNOWN', { uri })
    const loaded = await this.#load(found).catch((error: unknown) => fail('DOCUMENT_UNKNOWN', { uri }, error))
    return 'outline' in loaded ? { row, outline: loaded.outline } : fail('DOCUMENT_UNKNOWN', { uri })
  }

  /**
   * Which of the collections are there. A search waits for the first index, though not for ever, and never takes an index
   * that failed, or directories that are gone, for empty ones.
   */
  async #ready({ collections: names, patienceMs = PATIENCE_MS }: Scoped): Promise<readonly Served[]> {
    const settled = await this.#indexer.settled(patienceMs)
    if (settled && !this.#indexer.complete)
      fail('DOCS_INDEX_UNAVAILABLE', { reason: 'they could not be looked through' })
    const asked = this.#indexer.served.filter(({ collection }) => names.includes(collection.name))
    const present = asked.filter((served) => served.present)
    if (present.length > 0) return present
    return fail('DOCS_DIRECTORY_GONE', { directories: names.length === 0 ? 'every collection' : names.join(', ') })
  }

  #filter({ updatedAfter }: Pick<SearchRequest, 'updatedAfter'>, present: readonly Served[]): Filter {
    const scope = present.map(({ id }) => id)
    return {
      scope: this.#database.holdsOnly(scope) ? null : scope,
      ...(updatedAfter === undefined ? {} : { updatedAfter }),
    }
  }

  #page<Hit>({ collections }: SearchRequest, found: Pick<Page<Hit>, 'total' | 'hits'>): Page<Hit> {
    const notice = this.#indexer.noticeFor(collections)
    return { ...found, generation: this.#database.generation, ...(notice === undefined ? {} : { notice }) }
  }
}

type FoundFile = Pick<File, 'path' | 'bytes' | 'stamp'>

const MOST_REMEMBERED = 8

/** Who reads a document reads on in it, and some take seconds to unpack. */
function remembering(read: (found: FoundFile) => Promise<LoadedFile>): (found: FoundFile) => Promise<LoadedFile> {
  const remembered = new Map<string, Promise<LoadedFile>>()
  return (found) => {
    const name = `${found.path}\n${found.stamp}`
    const loading = remembered.get(name) ?? read(found)
    remembered.delete(name)
    remembered.set(name, loading)
    loading.catch(() => remembered.delete(name))
    const [oldest = ''] = remembered.keys()
    if (remembered.size > MOST_REMEMBERED) remembered.delete(oldest)
    return loading
  }
}

/** The address as the index writes it, without its fragment; clients may encode other characters than we do. */
function canonical(address: string): string {
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
  const snippet = snippetOf(row.text, highlightsOf(row.text, terms), LONGEST_DESCRIPTION).text
  return { ...infoOf(row), collectionId: row.collection, snippet }
}

function passageHit(row: PassageRow, terms: readonly Term[]): PassageHit {
  const matches = highlightsOf(row.text, terms)
  const snippet = snippetOf(row.text, matches, LONGEST_SNIPPET)
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
