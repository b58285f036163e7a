/** The servers of all sessions. Registries that configure a server alike share it: within a session, or across sessions if it is shared. */
import type { Timer } from '../../../ports/clock.ts'
import type { McpHostContext } from './mcp-types.ts'
import { McpServerLifecycle } from './mcp-server-lifecycle.ts'
import type { ServerConfig } from './server-config.ts'

/** One registry's use of a server. */
export interface ServerLease {
  readonly server: McpServerLifecycle
  /** Resolves when the server is released and, after its last user, closed. Idempotent. */
  release(): Promise<void>
}

interface Shared {
  readonly server: McpServerLifecycle
  readonly listeners: Set<() => void>
  /** Closes it after a while without a user. */
  idle?: Timer | undefined
}

export class ServerPool {
  readonly #context: McpHostContext
  readonly #shared = new Map<string, Shared>()
  readonly #leaving = new Map<string, Promise<void>>()

  constructor(context: McpHostContext) {
    this.#context = context
  }

  /** `changed` is called, until the release, when the server's state or offer changes. */
  take(config: ServerConfig, changed: () => void): ServerLease {
    const running = this.#shared.get(config.key)
    const one = running ?? this.#start(config)
    one.idle?.cancel()
    one.idle = undefined
    running?.server.revive()
    running?.server.follow(config.roots)
    // A function of its own for each lease: one registry may lease the same server twice.
    const listener = (): void => changed()
    one.listeners.add(listener)
    let released: Promise<void> | undefined
    return {
      server: one.server,
      release: () => {
        const isLast = one.listeners.delete(listener) && one.listeners.size === 0
        released ??= isLast ? this.#leave(config, one) : Promise.resolve()
        return released
      },
    }
  }

  /** Closes the servers that no registry uses. */
  async close(): Promise<void> {
    const unused = [...this.#shared].filter(([, { listeners }]) => listeners.size === 0)
    await Promise.all([...unused.map(([key, one]) => this.#end(key, one)), ...this.#leaving.values()])
  }

  #start(config: ServerConfig): Shared {
    const listeners = new Set<() => void>()
    const changed = (): void => {
      for (const listener of listeners) listener()
    }
    const server = new McpServerLifecycle(after(this.#leaving.get(config.key), config), this.#context, changed)
    const started: Shared = { server, listeners }
    this.#shared.set(config.key, started)
    return started
  }

  async #leave({ key, isShared, rules }: ServerConfig, one: Shared): Promise<void> {
    const { clock, limits } = this.#context
    const idleMs = isShared && one.server.status().state === 'ready' ? (rules.idleMs ?? limits.idleMs) : 0
    if (idleMs === 0) return this.#end(key, one)
    one.idle = clock.setTimer(idleMs, () => void this.#end(key, one))
  }

  async #end(key: string, { server, idle }: Shared): Promise<void> {
    idle?.cancel()
    this.#shared.delete(key)
    const gone = server.close()
    this.#leaving.set(key, gone)
    try {
      await gone
    } finally {
      if (this.#leaving.get(key) === gone) this.#leaving.delete(key)
    }
  }
}

/** A server starts only when its predecessor has ended: both may need the same port, file or lock. */
function after(gone: Promise<void> | undefined, config: ServerConfig): ServerConfig {
  if (gone === undefined) return config
  return {
    ...config,
    async locate() {
      await gone
      return await config.locate()
    },
  }
}
