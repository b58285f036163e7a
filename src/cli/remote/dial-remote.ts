/** How commands and the relay reach a remote server: again and again, with growing pauses. */
import type { Duplex } from 'node:stream'
import { type ClientTransport, openLineTransport } from '../../client/connection/transport.ts'
import type { Config } from '../../config/settings.ts'
import { isParleyError } from '../../errors/parley-error.ts'
import { type KnownServer, serverOf } from './known-servers.ts'
import { networkNow, networkPause } from './network-pause.ts'
import { openRemote } from './remote-stream.ts'

const PAUSES_MS = { first: 250, longest: 30_000 }
/** A command gives up so late; an editor's relay does not. */
const TRIES_OF_COMMAND = 5

/** For `askStatus` and the like: one request, one connection. Nothing for the server of this machine. */
export async function remoteOf(config: Config): Promise<{ readonly connect?: () => Promise<Duplex> }> {
  if (config.server === undefined) return {}
  const server = serverOf(config)
  return { connect: () => openRemote(server) }
}

/** For a client that lives longer than one connection. */
export function dialRemote(config: Config, signal: AbortSignal | undefined): () => Promise<ClientTransport> {
  const server = serverOf(config)
  return async () => {
    for (let tries = 1; ; tries += 1) {
      const network = networkNow()
      try {
        return transportOn(await openRemote(server), signal)
      } catch (error) {
        if (tries === TRIES_OF_COMMAND || !isParleyError(error, 'SERVER_LOST') || signal?.aborted === true) throw error
        await networkPause(pauseAfter(tries), network)
      }
    }
  }
}

function transportOn(stream: Duplex, signal: AbortSignal | undefined): ClientTransport {
  signal?.addEventListener('abort', () => stream.destroy(), { once: true })
  stream.on('error', () => {
    // The reader of the connection reports its end.
  })
  return openLineTransport(stream, stream)
}

/** Of many clients that have lost one server not all come back at once. */
function pauseAfter(failures: number): number {
  const ms = Math.min(PAUSES_MS.first * 2 ** (failures - 1), PAUSES_MS.longest)
  return ms / 2 + (crypto.getRandomValues(new Uint16Array(1)).reduce((sum, one) => sum + one, 0) / 65_536) * (ms / 2)
}

/** The server of an editor's relay. What it starts is only another try: a remote server comes back by itself, or does not. */
export class RemoteDialer {
  readonly #server: KnownServer
  #failures = 0
  /** As it was before the last attempt. */
  #network = networkNow()

  constructor(server: KnownServer) {
    this.#server = server
  }

  async dial(): Promise<Duplex> {
    if (this.#failures > 0) await this.pause(pauseAfter(this.#failures))
    this.#network = networkNow()
    try {
      const stream = await openRemote(this.#server)
      stream.on('error', () => undefined)
      this.#failures = 0
      return stream
    } catch (error) {
      this.#failures += 1
      throw error
    }
  }

  /** A client asks for it. */
  async start(): Promise<void> {
    this.#failures = Math.min(this.#failures, 1)
  }

  pause(ms: number): Promise<void> {
    return networkPause(ms, this.#network)
  }
}
