/** The page at `/`: the collections to search, or the results of a search. */
import { parseQuery } from '../../text/query.ts'
import type { PassageHit, PassagePage } from '../index/worker/protocol.ts'
import { type Snippet, snippetOf } from '../index/query/snippet.ts'
import type { CollectionView } from '../collections/view.ts'
import {
  collectionAddress,
  documentAddress,
  type PagePosition,
  type SearchQuestion,
  searchAddress,
} from './site/addresses.ts'
import { layoutOf } from './parts/document-text.ts'
import { type Html, html, joinHtml } from './parts/html.ts'
import { dateOf, pageLanguageOf, linkTo, name, noticeBlock, problemPage } from './parts/layout.ts'
import { markdownBlocks } from './render-markdown.ts'
import type { TextRange } from '../../text/query.ts'
import { marked } from './parts/marked.ts'
import { formatCount } from '../../text/shorten.ts'

const HITS = 10
/** A user who needs further pages needs another query. */
const MOST_PAGES = 100
const LONGEST_SNIPPET = 420
/** After so long the page only reports that documents are still being read, instead of not loading. */
export const INDEX_WAIT_MS = 3_000

export interface RenderedPage {
  readonly status: number
  readonly title: string
  readonly content: Html
}

export async function startPage(view: CollectionView): Promise<RenderedPage> {
  const counted = await Promise.all(
    view.present().map(async (collection) => {
      const { total, notice } = await view.index.list({
        collections: [collection],
        limit: 1,
        patienceMs: INDEX_WAIT_MS,
      })
      return { collection, total, notice }
    }),
  )
  const gone = view.all().filter((one) => !view.present().includes(one))
  const rows = counted.map(
    ({ collection, total }) =>
      html`<li>
        <a href="${collectionAddress(collection)}">${name(collection)}</a>
        <span class="soft">${count(total, 'document')}</span>
      </li>`,
  )
  const list =
    rows.length > 0
      ? html`<ul class="collections">
          ${rows}
        </ul>`
      : html`<p>There are none here.</p>`
  const missing = gone.map((one) => html`<p class="notice">${name(one)} is gone: its directory is not there.</p>`)
  const notice = noticeBlock(counted.find((one) => one.notice !== undefined)?.notice)
  const content = html`<div class="start">
    <h1>Collections</h1>
    ${notice}${list}${missing}
    <p class="soft">
      Press <kbd>/</kbd> to write in the search box. English words are found in their other forms, Chinese wherever it
      stands.
    </p>
  </div>`
  return { status: 200, title: '', content }
}

export async function resultsPage(
  view: CollectionView,
  question: SearchQuestion,
  place: PagePosition,
): Promise<RenderedPage> {
  const wrong =
    wrongIn(question, view) ??
    (place.page > MOST_PAGES ? `There are no more than ${MOST_PAGES} pages. Ask for less at once.` : undefined)
  if (wrong !== undefined) {
    return { status: 400, title: 'Search', content: problemPage('That cannot be searched for', wrong) }
  }
  const page = await view.index.passages({
    query: question.query,
    mode: question.mode,
    collections: question.collection === '' ? view.all() : [question.collection],
    offset: (place.page - 1) * HITS,
    limit: HITS,
    patienceMs: INDEX_WAIT_MS,
  })
  const content = page.total === 0 ? nothing(question, page) : found(question, place, page)
  return { status: 200, title: question.query, content }
}

const MOST_WORDS = 64
const LONGEST_QUERY = 1_000

function wrongIn({ query, collection }: SearchQuestion, view: CollectionView): string | undefined {
  const words = parseQuery(query).length
  if (query.length > LONGEST_QUERY)
    return `These are ${query.length} characters. Give ${LONGEST_QUERY} at most; a few words find more.`
  if (words === 0) return 'There is no letter or number in it. Give one word or more.'
  if (words > MOST_WORDS) return `These are ${words} words. Give ${MOST_WORDS} at most; a few words find more.`
  if (collection !== '' && !view.all().includes(collection)) return `There is no collection ${collection} here.`
  return undefined
}

function nothing(question: SearchQuestion, { notice }: PassagePage): Html {
  const wider = [
    ...(question.mode === 'best'
      ? []
      : [
          html`<li>
            ${linkTo({ ...question, mode: 'best' }, 'Look for the best matches')}, which may have only some of the
            words.
          </li>`,
        ]),
    ...(question.collection === ''
      ? []
      : [html`<li>${linkTo({ ...question, collection: '' }, 'Look in all collections')}.</li>`]),
  ]
  return html`<h1>Nothing was found for “${name(question.query)}”</h1>
    ${noticeBlock(notice)}
    <ul class="advice">
      ${wider}
      <li>Use fewer words, and those that the documents would use.</li>
      <li>
        Check the spelling. English is found in other forms of the word; Chinese as it is written, traditional or
        simplified.
      </li>
    </ul>`
}

function found(question: SearchQuestion, place: PagePosition, page: PassagePage): Html {
  const { hits, notice, generation } = page
  const moved = place.state !== undefined && place.state !== generation
  const change = moved
    ? 'The documents have changed since the first page, so passages may be missing here or appear again.'
    : undefined
  const items = hits.map((hit) => html`<li>${passage(hit, question)}</li>`)
  return html`<h1 class="count">${heading(place, page)}</h1>
    ${noticeBlock(notice)}${noticeBlock(change)}
    <ol class="results">
      ${items}
    </ol>
    ${pages(question, place, page)}`
}

function heading({ page }: PagePosition, { total, match, hits }: PassagePage): string {
  const which =
    hits.length === total
      ? ''
      : hits.length === 0
        ? '; there is nothing on this page'
        : `; here are ${(page - 1) * HITS + 1} to ${(page - 1) * HITS + hits.length}`
  const some = match === 'some' ? ' with some of the words, those with most of them first' : ''
  return `${count(total, 'passage')}${some}${which}`
}

function count(number: number, what: string): string {
  return `${formatCount(number)} ${what}${number === 1 ? '' : 's'}`
}

function passage(hit: PassageHit, question: SearchQuestion): Html {
  const { title, headingPath, collection, file, line, modified } = hit
  const first = Number(/#L(\d+)$/.exec(hit.uri)?.[1] ?? line)
  const address = documentAddress(hit.uri, question, { line: first, anchor: `L${first}` })
  const under = headingPath[0] === title ? headingPath.slice(1) : headingPath
  const path = under.length === 0 ? null : html`<p class="under">${joinHtml(under.map(name), html` › `)}</p>`
  return html`<article><h2${pageLanguageOf(title)}><a href="${address}">${name(title)}</a></h2>${path}
<p class="where">${name(collection)} / ${name(`${file}:${line}`)} · ${dateOf(modified)}</p>${snippet(hit)}</article>`
}

/** The headings stand above it already, unless what was looked for stands in them. */
function snippet(hit: PassageHit): Html {
  const { snippet: text, highlights, file } = hit
  const head = /^(?:#{1,6} [^\n]*\n\s*)+/.exec(text)?.[0].length ?? 0
  const inHead = (highlights[0]?.[0] ?? head) < head || head === text.length
  const start = inHead ? 0 : head
  const shifted = highlights.map(([from, to]) => [from - start, to - start] as const).filter(([from]) => from >= 0)
  const cut = snippetOf(text.slice(start), shifted, LONGEST_SNIPPET)
  const isMarkdown = layoutOf(file) === 'markdown'
  return html`<div class="snippet">${isMarkdown ? markdownExcerpt(cut) : plainExcerpt(cut, hit.headingPath)}</div>`
}

/** The way to the passage is above it, so that its links lead nowhere from here. */
function markdownExcerpt({ text, highlights }: Snippet): readonly Html[] {
  const surroundings = { text: (range: TextRange) => marked(text, range, highlights), addressOf: () => undefined }
  return markdownBlocks(text, [[0, text.length]], surroundings).flatMap((blocks) => blocks().map(({ made }) => made))
}

/** A heading that the text begins with stands apart from it. */
function plainExcerpt({ text, highlights }: Snippet, headingPath: readonly string[]): readonly Html[] {
  const line = /^.*/.exec(text)?.[0] ?? ''
  const head = headingPath.includes(line.trim()) ? line.length : 0
  const part = (range: TextRange) => marked(text, range, highlights)
  return [
    ...(head === 0 ? [] : [html`<p class="head"><b>${part([0, head])}</b></p>`]),
    html`<p dir="auto" ${pageLanguageOf(text)}>${part([head, text.length])}</p>`,
  ]
}

function pages(
  question: SearchQuestion,
  { page, state }: PagePosition,
  { total, generation }: PassagePage,
): Html | null {
  const last = Math.min(MOST_PAGES, Math.ceil(total / HITS))
  if (last < 2) return null
  const to = (number: number, text: string) =>
    html`<a
      href="${searchAddress(question, { page: number, state: state ?? generation })}"
      rel="${number < page ? 'prev' : 'next'}"
      >${text}</a
    >`
  return html`<nav class="pages" aria-label="Pages">
    <span>${page > 1 ? to(Math.min(page - 1, last), '← Back') : null}</span>
    <span class="soft">Page ${page} of ${last}</span><span>${page < last ? to(page + 1, 'Further →') : null}</span>
  </nav>`
}
