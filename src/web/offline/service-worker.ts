/**
 * Keeps the files of the page for when the server is away. It holds no credential and nothing that was said: files with a hash in
 * their address, and the page that names them.
 */

/** The build writes the names of the files here, and one name for all of them together. */
const { version, files } = JSON.parse('@shell@') as { readonly version: string; readonly files: readonly string[] }
const CACHE = `parley-${version}`
const HASHED = /\/a\/[\w-]+\/[\w.-]+$/u

/** What a service worker has beyond a page, as far as it is used here. */
interface Waiting extends Event {
  waitUntil(work: Promise<unknown>): void
}
interface Fetching extends Waiting {
  readonly request: Request
  respondWith(answer: Promise<Response>): void
}
interface Pushing extends Waiting {
  readonly data: { json(): unknown } | null
}
interface Clicking extends Waiting {
  readonly notification: Notification
  /** Of the button; empty: the notification itself. */
  readonly action: string
}
interface Messaged extends Waiting {
  readonly data: unknown
}
interface Tab {
  readonly url: string
  readonly visibilityState: string
  focus(): Promise<unknown>
  postMessage(message: unknown): void
}
interface Scope {
  readonly registration: ServiceWorkerRegistration
  readonly clients: {
    claim(): Promise<void>
    matchAll(which: { readonly type: 'window'; readonly includeUncontrolled: boolean }): Promise<readonly Tab[]>
    openWindow(address: string): Promise<unknown>
  }
  skipWaiting(): Promise<void>
  addEventListener(kind: 'install' | 'activate', listener: (event: Waiting) => void): void
  addEventListener(kind: 'fetch', listener: (event: Fetching) => void): void
  addEventListener(kind: 'push', listener: (event: Pushing) => void): void
  addEventListener(kind: 'notificationclick', listener: (event: Clicking) => void): void
  addEventListener(kind: 'message', listener: (event: Messaged) => void): void
}
const scope = globalThis as unknown as Scope
const shell = scope.registration.scope

scope.addEventListener('install', (event) => event.waitUntil(install()))
scope.addEventListener('activate', (event) => event.waitUntil(activate()))
scope.addEventListener('message', (event) => {
  if (event.data === 'take over') event.waitUntil(scope.skipWaiting())
})
scope.addEventListener('fetch', (event) => {
  const { request } = event
  if (request.method !== 'GET') return
  const address = request.url.split(/[?#]/u, 1)[0] ?? ''
  if (request.mode === 'navigate' && address === shell) event.respondWith(page(request))
  else if (address.startsWith(shell) && HASHED.test(address)) event.respondWith(hashed(request))
})

scope.addEventListener('push', (event) => event.waitUntil(pushed(event.data?.json() as Pushed | undefined)))
scope.addEventListener('notificationclick', (event) => event.waitUntil(clicked(event)))

async function install(): Promise<void> {
  const cache = await caches.open(CACHE)
  await cache.addAll([
    new Request(shell, { cache: 'reload' }),
    ...files.map((file) => new Request(new URL(file, shell))),
  ])
}

/** Nothing else of this origin keeps caches of these names. */
async function activate(): Promise<void> {
  const old = (await caches.keys()).filter((name) => name.startsWith('parley-') && name !== CACHE)
  await Promise.all(old.map((name) => caches.delete(name)))
  await scope.clients.claim()
}

/** What a proxy says for a server that does not answer. */
const AWAY = new Set([502, 503, 504])

/** As the server has it now; where that does not answer, as it was. */
async function page(request: Request): Promise<Response> {
  try {
    const answer = await fetch(request)
    return AWAY.has(answer.status) ? ((await caches.match(shell)) ?? answer) : answer
  } catch (error) {
    const known = await caches.match(shell)
    if (known === undefined) throw error
    return known
  }
}

/** A file with a hash in its address never changes. */
async function hashed(request: Request): Promise<Response> {
  return (await caches.match(request.url)) ?? fetch(request)
}

/** What the server sends; the rest of the words are here. */
interface Pushed {
  readonly kind: 'waits' | 'ended' | 'broken' | 'over'
  readonly session: string
  readonly title: string
  readonly what: string
  readonly ticket?: string
  readonly options?: readonly { readonly optionId: string; readonly name: string }[]
}

const WORDS = {
  en: {
    waits: 'Waits for you',
    ended: 'Finished',
    broken: 'Interrupted',
    over: 'Answered',
    untitled: 'Untitled session',
  },
  zh: { waits: '等待你的答复', ended: '已完成', broken: '已中断', over: '已答复', untitled: '未命名会话' },
} as const

/** One notification for each session: a newer one takes the place of the older. */
async function pushed(message: Pushed | undefined): Promise<void> {
  if (typeof message?.session !== 'string') return
  const { kind, session, title, what, ticket, options = [] } = message
  const tabs = await scope.clients.matchAll({ type: 'window', includeUncontrolled: true })
  const isSeen = tabs.some(({ url, visibilityState }) => visibilityState === 'visible' && sessionIn(url) === session)
  const isQuiet = kind === 'over' || isSeen
  if (isQuiet && !(await mustShow())) return withdraw(session)
  const lang = navigator.language.startsWith('zh') ? 'zh' : 'en'
  const words = WORDS[lang]
  const head = `${words[kind]} · ${title === '' ? words.untitled : title}`
  await scope.registration.showNotification(head, {
    body: what,
    lang,
    tag: session,
    icon: 'icon-192.png',
    badge: 'icon-192.png',
    data: { session, ticket },
    // Not every browser has them; then a tap opens the question.
    actions: options.map(({ optionId, name }) => ({ action: optionId, title: name })),
    renotify: kind === 'waits' && !isQuiet,
    silent: isQuiet,
  } as NotificationOptions)
}

/** Safari ends a subscription after three messages for which nothing was shown; a browser that does not say where it gets them may too. */
async function mustShow(): Promise<boolean> {
  const subscription = await scope.registration.pushManager.getSubscription().catch(() => null)
  return subscription === null || new URL(subscription.endpoint).hostname.endsWith('.push.apple.com')
}

async function withdraw(session: string): Promise<void> {
  for (const notification of await scope.registration.getNotifications({ tag: session })) notification.close()
}

async function clicked({ notification, action }: Clicking): Promise<void> {
  const { session, ticket } = notification.data as { readonly session: string; readonly ticket?: string }
  notification.close()
  if (action === '' || ticket === undefined || !(await answered(ticket, action))) await open(session)
}

/** False where the notification cannot answer any more: then the page shows how it stands. */
async function answered(ticket: string, optionId: string): Promise<boolean> {
  try {
    const response = await fetch(new URL('answer', shell), {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ ticket, optionId }),
    })
    return response.ok && ((await response.json()) as { readonly counted?: boolean }).counted === true
  } catch {
    return false
  }
}

/** In a tab that is there, else in a new one. */
async function open(session: string): Promise<void> {
  const tabs = await scope.clients.matchAll({ type: 'window', includeUncontrolled: true })
  const tab = tabs.find(({ url }) => url.startsWith(shell) && new URL(url).searchParams.get('share') === null)
  if (tab === undefined) return void (await scope.clients.openWindow(`${shell}?session=${encodeURIComponent(session)}`))
  await tab.focus()
  tab.postMessage({ open: session })
}

function sessionIn(url: string): string | null {
  return new URL(url).searchParams.get('session')
}
