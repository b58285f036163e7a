/** A page that shows a document, with its outline beside it and the matches of a search marked. */
import type { FoundInDocument, Shown, ShownHeading } from '../index/worker/protocol.ts'
import type { CollectionView } from '../collections/view.ts'
import { collectionAddress, documentAddress, type SearchQuestion, type Spot } from './site/addresses.ts'
import { readingOf } from './parts/document-text.ts'
import { type Html, html } from './parts/html.ts'
import { dateOf, linkTo, name } from './parts/layout.ts'
import { headingId } from './links.ts'
import { type RenderedPage, INDEX_WAIT_MS } from './search-page.ts'

const MOST_FOUND = 50

export async function documentPage(
  view: CollectionView,
  uri: string,
  { question, spot }: { readonly question: SearchQuestion; readonly spot: Spot },
): Promise<RenderedPage> {
  const { query, mode } = question
  const shown = await view.index.show({
    uri,
    collections: view.all(),
    patienceMs: INDEX_WAIT_MS,
    ...(query.trim() === '' ? {} : { search: { query, mode } }),
    ...spot,
  })
  const beside = html`${foundIn(shown, question)}${outlineOf(shown, question)}`
  const back = query === '' ? null : html` · ${linkTo(question, 'Back to the results')}`
  const content = html`<p class="crumbs">
      <a href="${collectionAddress(shown.collection)}">${name(shown.collection)}</a> / ${name(shown.file)} ·
      ${dateOf(shown.modified)}${back}
    </p>
    <div class="document">
      <div class="beside">${beside}</div>
      <article class="reading">${readingOf(shown)}${parts(shown, question)}</article>
    </div>`
  return { status: 200, title: shown.title, content }
}

function outlineOf(shown: Shown, question: SearchQuestion): Html | null {
  if (shown.headings.length < 2) return null
  const least = Math.min(...shown.headings.map(({ level }) => level))
  const items = shown.headings.map(
    (heading) =>
      html`<li class="d${Math.min(6, heading.level - least + 1)}">
        <a href="${addressOf(shown, heading, { question, anchor: headingId(heading) })}">${name(heading.title)}</a>
      </li>`,
  )
  return html`<nav aria-label="Outline">
    <details class="outline" open>
      <summary>Outline</summary>
      <ol>
        ${items}
      </ol>
    </details>
  </nav>`
}

function foundIn(shown: Shown, question: SearchQuestion): Html | null {
  const { found } = shown
  if (found.length === 0) return null
  const items = found.slice(0, MOST_FOUND).map(
    (one) =>
      html`<li>
        <a href="${addressOf(shown, one, { question, anchor: `L${one.line}` })}"
          >${one.heading === '' ? '' : html`${name(one.heading)}, `}line ${one.line}</a
        >
      </li>`,
  )
  const more = found.length > MOST_FOUND ? html`<li class="soft">and ${found.length - MOST_FOUND} more</li>` : null
  return html`<nav aria-label="Found here">
    <details open>
      <summary>Found here: ${found.length === 1 ? '1 passage' : `${found.length} passages`}</summary>
      <ol>
        ${items}${more}
      </ol>
    </details>
  </nav>`
}

/** In the same part only the anchor is another one. */
function addressOf(
  { uri, part }: Shown,
  to: Pick<ShownHeading | FoundInDocument, 'line' | 'part'>,
  { question, anchor }: { readonly question: SearchQuestion; readonly anchor: string },
): string {
  return to.part === part ? `#${encodeURIComponent(anchor)}` : documentAddress(uri, question, { line: to.line, anchor })
}

function parts({ uri, part, parts: all }: Shown, question: SearchQuestion): Html | null {
  if (all < 2) return null
  const to = (number: number, text: string) =>
    html`<a href="${documentAddress(uri, question, { part: number })}">${text}</a>`
  return html`<nav class="pages" aria-label="Parts of the document">
    <span>${part > 1 ? to(part - 1, '← Back') : null}</span> <span class="soft">Part ${part} of ${all}</span
    ><span>${part < all ? to(part + 1, 'Further →') : null}</span>
  </nav>`
}
