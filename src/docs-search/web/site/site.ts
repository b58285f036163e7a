/** The web pages, behind the same listener and the same keys as MCP: the page of each address, and who may see it. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isParleyError, reasonOf } from '../../../errors/parley-error.ts'
import type { KeyHolder } from '../../keys/keys.ts'
import type { CollectionView } from '../../collections/view.ts'
import { collectionIn, documentIn, numberIn, positionIn, questionIn } from './addresses.ts'
import { collectionPage } from '../collection-page.ts'
import { documentPage } from '../document-page.ts'
import { html } from '../parts/html.ts'
import { ASSETS, htmlPageOf, problemPage } from '../parts/layout.ts'
import { moved, type HttpReply, sendReply } from './reply.ts'
import { type RenderedPage, resultsPage, startPage } from '../search-page.ts'
import { Signing, type SigningOptions } from './signing.ts'

export interface SiteOptions extends SigningOptions {
  readonly view: (principal: KeyHolder) => CollectionView
  readonly log: (line: string) => void
}

export class Site {
  readonly #options: SiteOptions
  readonly #signing: Signing

  constructor(options: SiteOptions) {
    this.#options = options
    this.#signing = new Signing(options)
  }

  /** False when the request is not for a page. Host and origin were checked before. */
  async answer(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const reply = await this.#replyTo(request)
    if (reply === undefined) return false
    sendReply(response, reply)
    return true
  }

  /** Signs out the browsers whose key was removed or has other collections now. */
  retain(knows: (principal: KeyHolder) => boolean): void {
    this.#signing.retain(knows)
  }

  async #replyTo(request: IncomingMessage): Promise<HttpReply | undefined> {
    const { method, url = '/' } = request
    const [path = '', query = ''] = url.split('?', 2)
    if (method === 'POST' && path === '/sign-in') return this.#signing.in(request)
    if (method === 'POST' && path === '/sign-out') return this.#signing.out(request)
    if ((method !== 'GET' && method !== 'HEAD') || !isForPeople(path, request)) return undefined
    if (path === '/sign-in' || path === '/sign-out') return moved('/')
    const file = ASSETS.find(({ address }) => address === path)
    if (file !== undefined) return { status: 200, headers: immutableHeaders(file.type), body: file.text }
    const principal = this.#signing.principalOf(request)
    if (principal === null) return this.#signing.asked(request)
    return this.#pageFor(this.#options.view(principal), path, new URLSearchParams(query))
  }

  async #pageFor(view: CollectionView, path: string, params: URLSearchParams): Promise<HttpReply> {
    const question = questionIn(params)
    const answer = await pageAt(view, path, params).catch((error: unknown) => this.#failed(error))
    const { status, title, content } = answer ?? NOTHING
    return {
      status,
      body: htmlPageOf({
        title,
        reader: { collections: view.all() },
        question,
        wide: status === 200 && documentIn(path) !== undefined,
        writing: path === '/' && question.query === '',
        content,
      }),
    }
  }

  #failed(error: unknown): RenderedPage {
    if (isParleyError(error) && error.code in STATUS) {
      const again = error.retryable ? html`<p>Load this page again in a while.</p>` : undefined
      return {
        status: STATUS[error.code] ?? 500,
        title: 'Not there',
        content: problemPage('That did not work', error.message, again),
      }
    }
    this.#options.log(`A page failed: ${reasonOf(error)}`)
    const sentence = 'Something went wrong in the server. Its log says what.'
    return { status: 500, title: 'Error', content: problemPage('That did not work', sentence) }
  }
}

/** Also the answer to unknown addresses for browsers; programs get a JSON error. */
function isForPeople(path: string, { headers: { accept = '' } }: IncomingMessage): boolean {
  if (/^\/(?:mcp|\.well-known)(?:\/|$)/.test(path)) return false
  return /^\/(?:$|sign-(?:in|out)$|(?:doc|in|page)\/)/.test(path) || /\btext\/html\b/.test(accept)
}

/** Errors that a user can act on. Others only go to the log. */
const STATUS: Readonly<Record<string, number>> = {
  DOCUMENT_UNKNOWN: 404,
  DOCS_INDEX_UNAVAILABLE: 503,
  DOCS_DIRECTORY_GONE: 503,
}

const immutableHeaders = (type: string) => ({
  'Content-Type': type,
  'Cache-Control': 'public, max-age=31536000, immutable',
})

const NOTHING: RenderedPage = {
  status: 404,
  title: 'Not here',
  content: problemPage(
    'There is nothing here',
    'No page has this address.',
    html`<p><a href="/">Go to the documents</a></p>`,
  ),
}

/** Undefined where there is no such page, or none that the reader may know of. */
async function pageAt(view: CollectionView, path: string, params: URLSearchParams): Promise<RenderedPage | undefined> {
  const question = questionIn(params)
  const [uri, collection] = [documentIn(path), collectionIn(path)]
  if (path === '/')
    return question.query.trim() === '' ? startPage(view) : resultsPage(view, question, positionIn(params))
  if (uri !== undefined) {
    const [line, part] = [numberIn(params, 'line'), numberIn(params, 'part')]
    const spot = { ...(line === undefined ? {} : { line }), ...(part === undefined ? {} : { part }) }
    return documentPage(view, uri, { question, spot })
  }
  return collection === undefined ? undefined : collectionPage(view, collection, params.get('after') ?? '')
}
