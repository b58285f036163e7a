/** The servers of all sessions: registries of one session that name a server alike share its one connection. */
import type { Surroundings } from './connection.ts'
import { Server, type ServerConfig } from './server.ts'

/** One registry's share in a server. */
export interface Lease {
  readonly server: Server
  /** Resolves when the share is given back and, if it was the last one, the server is gone. Idempotent. */
  release(): Promise<void>
}

export interface Pool {
  /** `changed` is called, until the share is given back, when the state or the tools of the server did change. */
  take(config: ServerConfig, changed: () => void): Lease
}

interface Shared {
  readonly server: Server
  readonly listeners: Set<() => void>
}

export function openPool(around: Surroundings): Pool {
  const shared = new Map<string, Shared>()
  const leaving = new Map<string, Promise<void>>()

  function start(config: ServerConfig): Shared {
    const listeners = new Set<() => void>()
    const changed = (): void => {
      for (const listener of listeners) listener()
    }
    const server = new Server(after(leaving.get(config.key), config), around, changed)
    const started = { server, listeners }
    shared.set(config.key, started)
    return started
  }

  async function end(key: string, { server }: Shared): Promise<void> {
    shared.delete(key)
    const gone = server.close()
    leaving.set(key, gone)
    try {
      await gone
    } finally {
      if (leaving.get(key) === gone) leaving.delete(key)
    }
  }

  return {
    take(config, changed) {
      const running = shared.get(config.key)
      const one = running ?? start(config)
      running?.server.revive()
      running?.server.follow(config.roots)
      // A function of its own for each share: one registry may take the same server twice.
      const listener = (): void => changed()
      one.listeners.add(listener)
      let released: Promise<void> | undefined
      return {
        server: one.server,
        release() {
          released ??=
            one.listeners.delete(listener) && one.listeners.size === 0 ? end(config.key, one) : Promise.resolve()
          return released
        },
      }
    },
  }
}

/** A successor never runs beside its predecessor: they may want the same port, file or lock. */
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
