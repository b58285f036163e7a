/** The servers of all sessions. Registries that configure a server alike share it: within a session, or across sessions if it is shared. */
import type { Timer } from '../../../ports/clock.ts'
import type { McpHostContext } from './mcp-types.ts'
import { McpServerLifecycle } from './mcp-server-lifecycle.ts'
import type { ServerConfig } from './server-config.ts'

/** One registry's use of a server. */
export interface Lease {
  readonly server: McpServerLifecycle
  /** Resolves when the server is released and, after its last user, closed. Idempotent. */
  release(): Promise<void>
}

interface Pool {
  /** `changed` is called, until the release, when the server's state or offer changes. */
  take(config: ServerConfig, changed: () => void): Lease
  /** Closes the servers that no registry uses. */
  close(): Promise<void>
}

interface Shared {
  readonly server: McpServerLifecycle
  readonly listeners: Set<() => void>
  /** Closes it after a while without a user. */
  idle?: Timer | undefined
}

export function openPool(context: McpHostContext): Pool {
  const shared = new Map<string, Shared>()
  const leaving = new Map<string, Promise<void>>()

  function start(config: ServerConfig): Shared {
    const listeners = new Set<() => void>()
    const changed = (): void => {
      for (const listener of listeners) listener()
    }
    const server = new McpServerLifecycle(after(leaving.get(config.key), config), context, changed)
    const started: Shared = { server, listeners }
    shared.set(config.key, started)
    return started
  }

  async function leave({ key, isShared, rules }: ServerConfig, one: Shared): Promise<void> {
    const idleMs = isShared && one.server.status().state === 'ready' ? (rules.idleMs ?? context.limits.idleMs) : 0
    if (idleMs === 0) return end(key, one)
    one.idle = context.clock.setTimer(idleMs, () => void end(key, one))
  }

  async function end(key: string, { server, idle }: Shared): Promise<void> {
    idle?.cancel()
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
        release() {
          released ??=
            one.listeners.delete(listener) && one.listeners.size === 0 ? leave(config, one) : Promise.resolve()
          return released
        },
      }
    },
    async close() {
      const unused = [...shared].filter(([, { listeners }]) => listeners.size === 0)
      await Promise.all([...unused.map(([key, one]) => end(key, one)), ...leaving.values()])
    },
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
