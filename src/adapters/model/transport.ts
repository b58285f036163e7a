/** The way to a provider: patient with its headers, never led elsewhere, and watched. */
import { Agent, fetch as undiciFetch } from 'undici'
import type { Watch } from './watch.ts'

export interface Transport {
  /** For the packages: a request is known by its signal. */
  readonly fetch: typeof globalThis.fetch
  /** Until `forget`, requests with the signal of this watch are looked after by it. */
  watch(watch: Watch): void
  close(): Promise<void>
}

/** A model on this machine may read a long prompt for many minutes; the watch has its own limits. */
const PATIENT = { headersTimeout: 0, bodyTimeout: 0, connect: { timeout: 10_000 } }

export function openTransport(): Transport {
  const agent = new Agent(PATIENT)
  const watches = new WeakMap<AbortSignal, Watch>()
  return {
    async fetch(url, init) {
      const watch = init?.signal ? watches.get(init.signal) : undefined
      // Keys travel in headers that would go along: a provider that has moved is a refusal, said in words.
      const sent = { ...(init as object), dispatcher: agent, redirect: 'manual' } as const
      const send = async () => (await undiciFetch(url as string, sent)) as unknown as Response
      if (watch === undefined) return await send()
      const response = await watch.first(send)
      return response.body === null ? response : rewrapped(response, watch.watched(response.body))
    },
    watch: (watch) => void watches.set(watch.signal, watch),
    close: () => agent.destroy(),
  }
}

function rewrapped(response: Response, body: ReadableStream<Uint8Array>): Response {
  const { status, statusText } = response
  // A redirect is no status that a Response with a body may have everywhere.
  return new Response(body, { status, statusText, headers: [...response.headers] })
}
