/** The addresses of the pages, and what they say; nothing else makes or reads one. */

export type SearchMode = 'best' | 'all' | 'phrase'

export const MODES: readonly SearchMode[] = ['best', 'all', 'phrase']

/** The query in the address of a page. */
export interface SearchQuestion {
  readonly query: string
  readonly mode: SearchMode
  /** The name of a collection; empty for all of them. */
  readonly collection: string
}

export const NO_QUESTION: SearchQuestion = { query: '', mode: 'best', collection: '' }

export interface PagePosition {
  /** From 1. */
  readonly page: number
  /** The state of the index that the first page was made from. */
  readonly state?: string
}

const LARGEST = 1_000_000_000

export function questionIn(params: URLSearchParams): SearchQuestion {
  const mode = MODES.find((one) => one === params.get('mode')) ?? 'best'
  return { query: params.get('q') ?? '', mode, collection: params.get('in') ?? '' }
}

export function positionIn(params: URLSearchParams): PagePosition {
  const state = params.get('state')
  return { page: numberIn(params, 'page') ?? 1, ...(state === null ? {} : { state }) }
}

/** A whole number from 1; undefined for anything else. */
export function numberIn(params: URLSearchParams, name: string): number | undefined {
  const text = params.get(name) ?? ''
  const number = Number(text)
  return /^\d{1,10}$/.test(text) && number >= 1 && number <= LARGEST ? number : undefined
}

export function searchAddress(question: SearchQuestion, place: PagePosition = { page: 1 }): string {
  const { page, state } = place
  return `/${query({ ...queryFields(question), ...(page > 1 ? { page: String(page), ...(state === undefined ? {} : { state }) } : {}) })}`
}

export interface Spot {
  /** The part that has this line. */
  readonly line?: number
  readonly part?: number
  /** The id of an element in it. */
  readonly anchor?: string
}

/** `uri` is that of a document, with or without a fragment. */
export function documentAddress(uri: string, question: SearchQuestion, { line, part, anchor }: Spot = {}): string {
  const path = (uri.split('#', 1)[0] ?? '').replace(/^doc:\/\//, '')
  const spot = {
    ...(line === undefined ? {} : { line: String(line) }),
    ...(part === undefined ? {} : { part: String(part) }),
  }
  return `/doc/${path}${query({ ...queryFields(question), ...spot })}${anchor === undefined ? '' : `#${encodeURIComponent(anchor)}`}`
}

/** The document that a path names, if it names one. */
export function documentIn(path: string): string | undefined {
  return /^\/doc\/[^/]+\/./.test(path) ? `doc://${path.slice('/doc/'.length)}` : undefined
}

export function collectionAddress(name: string, after?: string): string {
  return `/in/${encodeURIComponent(name)}${query(after === undefined ? {} : { after })}`
}

export function collectionIn(path: string): string | undefined {
  const name = /^\/in\/([^/]+)$/.exec(path)?.[1]
  try {
    return name === undefined ? undefined : decodeURIComponent(name)
  } catch {
    // Not encoded as addresses are, so it names nothing.
    return undefined
  }
}

/** The address after signing in: always a page of this site, for any value in the form. */
export function ownAddress(to: string | null): string {
  if (to === null || !to.startsWith('/') || !URL.canParse(to, 'http://here')) return '/'
  const { host, pathname, search } = new URL(to, 'http://here')
  return host === 'here' && !pathname.startsWith('//') ? `${pathname}${search}` : '/'
}

function queryFields({ query: q, mode, collection }: SearchQuestion): Readonly<Record<string, string>> {
  return {
    ...(q === '' ? {} : { q }),
    ...(collection === '' ? {} : { in: collection }),
    ...(mode === 'best' ? {} : { mode }),
  }
}

function query(values: Readonly<Record<string, string>>): string {
  const text = new URLSearchParams(values).toString()
  return text === '' ? '' : `?${text}`
}
