/** What the page shows, as its address says it; everything behind one path, so that all addresses stay relative. */
import { type Signal, signal } from '@preact/signals'

export type PagePlace =
  | { readonly screen: 'sessions' }
  | {
      readonly screen: 'session'
      readonly id: string
      /** The entry that is looked at. */
      readonly seq: number | undefined
      /** What is looked for in it; empty: nothing yet. */
      readonly find?: string | undefined
    }
  | { readonly screen: 'new' }
  | { readonly screen: 'search'; readonly query: string }
  /** Who gets in; with the session that is about to be shared. */
  | { readonly screen: 'access'; readonly share: string | undefined }

/** Filters of the list stay in the address on every screen. */
export interface Filter {
  readonly text: string
  readonly group: string
  /** The id of a share link, through which this tab reads one session; empty on devices. */
  readonly share: string
}

export function placeIn(search: string): PagePlace {
  const query = new URLSearchParams(search)
  const id = query.get('session')
  if (id !== null && id !== '')
    return { screen: 'session', id, seq: wholeIn(query.get('at')), find: query.get('find') ?? undefined }
  if (query.has('new')) return { screen: 'new' }
  if (query.has('access')) return { screen: 'access', share: query.get('access') || undefined }
  const searched = query.get('search')
  return searched === null ? { screen: 'sessions' } : { screen: 'search', query: searched }
}

export function filterIn(search: string): Filter {
  const query = new URLSearchParams(search)
  return { text: query.get('text') ?? '', group: query.get('state') ?? '', share: query.get('share') ?? '' }
}

export function addressOf(place: PagePlace, filter: Filter): string {
  const query = new URLSearchParams()
  if (place.screen === 'session') {
    query.set('session', place.id)
    if (place.seq !== undefined) query.set('at', String(place.seq))
    if (place.find !== undefined) query.set('find', place.find)
  }
  if (place.screen === 'new') query.set('new', '')
  if (place.screen === 'access') query.set('access', place.share ?? '')
  if (place.screen === 'search') query.set('search', place.query)
  if (filter.text !== '') query.set('text', filter.text)
  if (filter.group !== '') query.set('state', filter.group)
  if (filter.share !== '') query.set('share', filter.share)
  const text = query.toString()
  return text === '' ? './' : `./?${text}`
}

function wholeIn(text: string | null): number | undefined {
  return text !== null && /^\d{1,15}$/u.test(text) ? Number(text) : undefined
}

/** The address of the page, in step with what it shows. */
export class Router {
  readonly place: Signal<PagePlace> = signal(placeIn(location.search))
  readonly filter: Signal<Filter> = signal(filterIn(location.search))

  constructor() {
    addEventListener('popstate', () => {
      this.place.value = placeIn(location.search)
      this.filter.value = filterIn(location.search)
    })
  }

  go(place: PagePlace, how: 'push' | 'replace' = 'push'): void {
    this.#write(place, this.filter.value, how)
  }

  narrow(filter: Partial<Filter>): void {
    this.#write(this.place.value, { ...this.filter.value, ...filter }, 'replace')
  }

  /** The page before, if it was ours; else the list. */
  back(): void {
    if (history.state === 'ours') history.back()
    else this.go({ screen: 'sessions' }, 'replace')
  }

  #write(place: PagePlace, filter: Filter, how: 'push' | 'replace'): void {
    const address = addressOf(place, filter)
    if (how === 'push') history.pushState('ours', '', address)
    else history.replaceState(history.state, '', address)
    this.place.value = place
    this.filter.value = filter
  }
}
