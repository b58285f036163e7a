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
        // The first one is no news.
        if (installing.state === 'installed' && navigator.serviceWorker.controller !== null) newer()
      })
    }
    registration.addEventListener('updatefound', look)
    look()
    if (registration.waiting !== null && navigator.serviceWorker.controller !== null) newer()
  } catch {
    // A browser may forbid it, such as in a private window.
  }
}

/** The newer page, with its own service worker. */
export async function reload(): Promise<void> {
  if ('serviceWorker' in navigator) {
    const registration = await navigator.serviceWorker.getRegistration().catch(() => undefined)
    registration?.waiting?.postMessage('take over')
  }
  location.reload()
}
