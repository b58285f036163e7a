/** A session server inside another program: as `parley serve`, without its command line, its signals and its exit code. */
import type { Socket } from 'node:net'
import { loadConfig } from '../../config/load.ts'
import { dial } from '../launch/launch.ts'
import { openServer as openDaemon } from './serve.ts'

export interface ServerSettings {
  /** The state directory; default: that of the commands of this user. */
  readonly home?: string
  /** The agent of new sessions, as `--agent` has it. */
  readonly agent?: string
  /** Addresses for remote clients, as the setting `listen` has them. */
  readonly listen?: string
}

export interface HostedServer {
  /** The Unix socket on which the commands of `parley` and other local clients find it. */
  readonly socket: string
  /** Where remote clients connect. */
  readonly urls: readonly string[]
  /** Resolves, with why if that is known, when it has lost its state: nothing more can be stored here. */
  readonly lost: Promise<string | undefined>
  /** A connection of the local user, for `openLineTransport` of the client. */
  connect(): Promise<Socket>
  /**
   * Lets running turns end, for at most `graceMs` (10,000 if absent), and frees the state. Resolves when all has ended.
   * Idempotent.
   */
  close(graceMs?: number): Promise<void>
}

/**
 * Resolves when it accepts clients. Throws STATE_IN_USE when another process owns the state directory, SOCKET_UNUSABLE, and
 * CONFIG_INVALID for a setting.
 */
export async function openServer(settings: ServerSettings = {}): Promise<HostedServer> {
  const config = await loadConfig({ ...settings, withoutProject: true })
  // How long its main thread may be busy is for the program around it to say.
  const server = await openDaemon({ ...config, maxStallSeconds: 0 }, {})
  return {
    socket: server.socket,
    urls: server.urls,
    lost: server.lost,
    connect: () => dial(server.socket),
    async close(graceMs) {
      server.stop('its program closed it', graceMs)
      await server.ended
    },
  }
}
