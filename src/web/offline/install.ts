/** Lets the browser keep the page for when the server is away, and says when it has fetched a newer one. */
import { workerUrl } from '../page/trusted-types.ts'

/** `open`: the reader has chosen the notification of a session. Without a service worker, as on a plain address of the network, the page is as it was. */
export async function keepPage(newer: () => void, open: (session: string) => void): Promise<void> {
  if (!('serviceWorker' in navigator)) return
  navigator.serviceWorker.addEventListener('message', ({ data }: MessageEvent<{ readonly open?: unknown } | null>) => {
    if (typeof data?.open === 'string') open(data.open)
  })
  try {
    const registration = await navigator.serviceWorker.register(workerUrl() as string, { updateViaCache: 'none' })
    const look = (): void => {
      const { installing } = registration
      installing?.addEventListener('statechange', () => {
        // The first one is no news. It may be active already and not yet control this page.
        if (installing.state === 'installed' && registration.active !== null) newer()
      })
    }
    registration.addEventListener('updatefound', look)
    look()
    if (registration.waiting !== null && registration.active !== null) newer()
  } catch {
    // A browser may forbid it, such as in a private window.
  }
}

/** How long a newer service worker may take to replace the one that still answers. Milliseconds. */
const TAKE_OVER_MS = 3_000

/** The newer page, with its own service worker. */
export async function reload(): Promise<void> {
  if ('serviceWorker' in navigator) {
    const registration = await navigator.serviceWorker.getRegistration().catch(() => undefined)
    if (registration?.waiting) await takeOver(registration.waiting)
  }
  location.reload()
}

/** A page that reloads meanwhile keeps the older one in use. */
function takeOver(worker: ServiceWorker): Promise<unknown> {
  return new Promise((resolve) => {
    navigator.serviceWorker.addEventListener('controllerchange', resolve, { once: true })
    setTimeout(resolve, TAKE_OVER_MS)
    worker.postMessage('take over')
  })
}
