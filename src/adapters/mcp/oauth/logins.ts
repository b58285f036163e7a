/** The logins of one state directory, shared by all sessions and by every process that uses the directory. */
import { fail, reasonOf } from '../../../errors/parley-error.ts'
import type { Clock, Timer } from '../../../ports/clock.ts'
import type { LoginSettings } from '../../../ports/values/mcp-server-settings.ts'
import type { Signal } from '../../../ports/values/signal.ts'
import type { HttpMcpServer } from '../transport/headers.ts'
import type { Authorization, LoginAttempt, Logins, AuthorizationRefusal } from './authorization.ts'
import type { RunningLogin } from './oauth-login.ts'
import { LoginStore } from './store.ts'

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

export class DirectoryLogins implements Logins {
  readonly #options: LoginsOptions
  readonly #running: RunningLogins

  constructor(options: LoginsOptions) {
    this.#options = options
    this.#running = new RunningLogins(options.clock)
  }

  at(server: HttpMcpServer, settings: LoginSettings = {}): Authorization {
    return new StoredAuthorization(
      { server, settings, store: this.#storeOf(server) },
      this.#options.clock,
      this.#running,
    )
  }

  async forget(server: HttpMcpServer): Promise<boolean> {
    const store = this.#storeOf(server)
    return await store.withLock(async () => store.remove())
  }

  #storeOf(server: HttpMcpServer): LoginStore {
    const { directory, clock } = this.#options
    return new LoginStore(directory, server.url, clock)
  }
}

/** One server with the settings and the stored logins of the user. */
interface LoginPlace {
  readonly server: HttpMcpServer
  readonly settings: LoginSettings
  readonly store: LoginStore
}

class StoredAuthorization implements Authorization {
  readonly #place: LoginPlace
  readonly #clock: Clock
  readonly #running: RunningLogins

  constructor(place: LoginPlace, clock: Clock, running: RunningLogins) {
    this.#place = place
    this.#clock = clock
    this.#running = running
  }

  token(): string | undefined {
    return this.#place.store.token()
  }

  /** One renewal for all requests that were rejected with the same token, in all sessions and processes. */
  async renew(refusal: AuthorizationRefusal): Promise<boolean> {
    const { server, store } = this.#place
    const isRenewed = (): boolean => store.token() !== undefined && store.token() !== refusal.token
    if (isRenewed()) return true
    if (store.token() === undefined) return false
    const { renew } = await import('./renewal.ts')
    return await store.withLock(async () => {
      if (!isRenewed()) await renew(server, store, { refusal, clock: this.#clock })
      return isRenewed()
    })
  }

  want(scope: string): Promise<void> {
    const { store } = this.#place
    return store.withLock(async () => store.write((kept) => ({ ...kept, wanted: union(kept.wanted, scope) })))
  }

  login(signal: Signal): Promise<LoginAttempt> {
    return this.#running.join(this.#place, signal)
  }

  onChange(changed: () => void): Timer {
    const { store } = this.#place
    let seen = store.stamp()
    let timer: Timer
    const look = (): void => {
      const now = store.stamp()
      timer = this.#clock.setTimer(POLL_MS, look)
      if (now === seen) return
      seen = now
      changed()
    }
    timer = this.#clock.setTimer(POLL_MS, look)
    return { cancel: () => timer.cancel() }
  }
}

/** The logins that wait for their user: a second client that asks for one of them gets the same page. */
class RunningLogins {
  readonly #clock: Clock
  readonly #byServer = new Map<string, Running>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  async join(place: LoginPlace, signal: Signal): Promise<LoginAttempt> {
    const one = this.#byServer.get(place.store.server) ?? this.#start(place)
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
      return { url, leave, done: done.catch((error: unknown) => failed(place.server, error)).finally(leave) }
    } catch (error) {
      leave()
      return failed(place.server, error)
    }
  }

  #start(place: LoginPlace): Running {
    const { server } = place.store
    const abort = new AbortController()
    const { signal } = abort
    // The OAuth code takes a tenth of a second to load, so only a login loads it.
    const begun = import('./oauth-login.ts').then((it) => it.beginLogin({ ...place, clock: this.#clock, signal }))
    const one = { begun, abort, waiting: 0 }
    this.#byServer.set(server, one)
    const over = (): void => void (this.#byServer.get(server) === one && this.#byServer.delete(server))
    begun.then(({ done }) => done).then(over, over)
    return one
  }
}

function union(one: string | undefined, other: string): string {
  return [...new Set(`${one ?? ''} ${other}`.trim().split(/\s+/))].join(' ')
}

function failed(server: HttpMcpServer, error: unknown): never {
  return fail('MCP_LOGIN_FAILED', { server: new URL(server.url).origin, reason: reasonOf(error) })
}
