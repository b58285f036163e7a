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
interface Scope {
  readonly registration: { readonly scope: string }
  readonly clients: { claim(): Promise<void> }
  skipWaiting(): Promise<void>
  addEventListener(kind: 'install' | 'activate', listener: (event: Waiting) => void): void
  addEventListener(kind: 'fetch', listener: (event: Fetching) => void): void
  addEventListener(kind: 'message', listener: (event: MessageEvent<unknown>) => void): void
}
const scope = globalThis as unknown as Scope
const shell = scope.registration.scope

scope.addEventListener('install', (event) => event.waitUntil(install()))
scope.addEventListener('activate', (event) => event.waitUntil(activate()))
scope.addEventListener('message', ({ data }) => {
  if (data === 'take over') void scope.skipWaiting()
})
scope.addEventListener('fetch', (event) => {
  const { request } = event
  if (request.method !== 'GET') return
  const address = request.url.split(/[?#]/u, 1)[0] ?? ''
  if (request.mode === 'navigate' && address === shell) event.respondWith(page(request))
  else if (address.startsWith(shell) && HASHED.test(address)) event.respondWith(hashed(request))
})

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

/** As the server has it now; where that does not answer, as it was. */
async function page(request: Request): Promise<Response> {
  try {
    return await fetch(request)
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
