/** The documents of one collection, in the order of their paths. */
import type { DocumentInfo } from '../index/worker/protocol.ts'
import type { CollectionView } from '../collections/view.ts'
import { collectionAddress, documentAddress, NO_QUESTION } from './site/addresses.ts'
import { html, type Html } from './parts/html.ts'
import { dateOf, pageLanguageOf, name, noticeBlock } from './parts/layout.ts'
import { type RenderedPage, INDEX_WAIT_MS } from './search-page.ts'
import { formatCount } from '../../text/shorten.ts'

const DOCUMENTS = 100

/** Undefined where the reader has no such collection. */
export async function collectionPage(
  view: CollectionView,
  collection: string,
  after = '',
): Promise<RenderedPage | undefined> {
  if (!view.all().includes(collection)) return undefined
  const wanted = { collections: [collection], limit: DOCUMENTS, after, patienceMs: INDEX_WAIT_MS }
  const { documents, total, next, notice } = await view.index.list(wanted)
  const onward =
    next === undefined ? null : html`<a href="${collectionAddress(collection, next)}" rel="next">Further →</a>`
  const first = after === '' ? null : html`<a href="${collectionAddress(collection)}">← From the beginning</a>`
  const ways =
    onward === null && first === null
      ? null
      : html`<nav class="pages" aria-label="Pages"><span>${first}</span><span>${onward}</span></nav>`
  const content = html`<h1>${name(collection)}</h1>
    <p class="count">${formatCount(total)} ${total === 1 ? 'document' : 'documents'}, in the order of their paths</p>
    ${noticeBlock(notice)}
    <ul class="documents">
      ${documents.map(entry)}
    </ul>
    ${ways}`
  return { status: 200, title: collection, content }
}

function entry({ uri, title, file, modified }: DocumentInfo): Html {
  return html`<li${pageLanguageOf(title)}><a href="${documentAddress(uri, NO_QUESTION)}">${name(title)}</a> <span class="where">${name(file)} · ${dateOf(modified)}</span></li>`
}
