/** The logins of one state directory, shared by all sessions and by every process that uses the directory. */
import { fail, reasonOf } from '../../../errors/parley-error.ts'
import type { Clock, Timer } from '../../../ports/clock.ts'
import type { LoginSettings } from '../../../ports/values/mcp-server-settings.ts'
import type { Signal } from '../../../ports/values/signal.ts'
import type { HttpServer } from '../transport/headers.ts'
import type { Authorization, Login, Logins, Refusal } from './authorization.ts'
import type { RunningLogin } from './login.ts'
import { accountOf, openStore, type Store } from './store.ts'

interface LoginsOptions {
  /** In the state directory, readable only by the user. */
  readonly directory: string
  readonly clock: Clock
}

/** How often to check for a login in another process. */
const POLL_MS = 1000

interface Running {
  readonly begun: Promise<RunningLogin>
  readonly abort: AbortController
  waiting: number
}

export function openLogins({ directory, clock }: LoginsOptions): Logins {
  /** By server: a second client that asks gets the same page. */
  const running = new Map<string, Running>()

  function start(server: HttpServer, settings: LoginSettings, store: Store): Running {
    const abort = new AbortController()
    const { signal } = abort
    // The OAuth code takes a tenth of a second to load, so only a login loads it.
    const begun = import('./login.ts').then((it) => it.beginLogin({ server, settings, store, clock, signal }))
    const one = { begun, abort, waiting: 0 }
    running.set(store.server, one)
    const over = (): void => void (running.get(store.server) === one && running.delete(store.server))
    begun.then(({ done }) => done).then(over, over)
    return one
  }

  async function join(one: Running, server: HttpServer, signal: Signal): Promise<Login> {
    one.waiting += 1
    let left = false
    const leave = (): void => {
      signal.removeEventListener('abort', leave)
      if (left) return
      left = true
      one.waiting -= 1
      if (one.waiting === 0) one.abort.abort()
    }
    signal.addEventListener('abort', leave, { once: true })
    if (signal.aborted) leave()
    try {
      const { url, done } = await one.begun
      return { url, leave, done: done.catch((error: unknown) => failed(server, error)).finally(leave) }
    } catch (error) {
      leave()
      return failed(server, error)
    }
  }

  function at(server: HttpServer, settings: LoginSettings = {}): Authorization {
    const store = openStore(directory, server.url, clock)
    return {
      token: () => tokenIn(store),
      renew: (refusal) => renewOnce(server, store, { refusal, clock }),
      want: (scope) =>
        store.withLock(async () => store.write((kept) => ({ ...kept, wanted: union(kept.wanted, scope) }))),
      login: (signal) => join(running.get(store.server) ?? start(server, settings, store), server, signal),
      onChange: (changed) => watch(store, clock, changed),
    }
  }

  return {
    at,
    async forget(server) {
      const store = openStore(directory, server.url, clock)
      return await store.withLock(async () => store.remove())
    },
  }
}

function union(one: string | undefined, other: string): string {
  return [...new Set(`${one ?? ''} ${other}`.trim().split(/\s+/))].join(' ')
}

function tokenIn(store: Store): string | undefined {
  const kept = store.read()
  return accountOf(kept, kept.issuer).tokens?.access_token
}

/** One renewal for all requests that were rejected with the same token, in all sessions and processes. */
async function renewOnce(
  server: HttpServer,
  store: Store,
  { refusal, clock }: { readonly refusal: Refusal; readonly clock: Clock },
): Promise<boolean> {
  const isRenewed = (): boolean => tokenIn(store) !== undefined && tokenIn(store) !== refusal.token
  if (isRenewed()) return true
  if (tokenIn(store) === undefined) return false
  const { renew } = await import('./renewal.ts')
  return await store.withLock(async () => {
    if (!isRenewed()) await renew(server, store, { refusal, clock })
    return isRenewed()
  })
}

function watch(store: Store, clock: Clock, changed: () => void): Timer {
  let seen = store.stamp()
  let timer: Timer
  const look = (): void => {
    const now = store.stamp()
    timer = clock.setTimer(POLL_MS, look)
    if (now === seen) return
    seen = now
    changed()
  }
  timer = clock.setTimer(POLL_MS, look)
  return { cancel: () => timer.cancel() }
}

function failed(server: HttpServer, error: unknown): never {
  return fail('MCP_LOGIN_FAILED', { server: new URL(server.url).origin, reason: reasonOf(error) })
}
