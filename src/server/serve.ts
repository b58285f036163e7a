/** The server: owns the state, listens on its socket, serves every connection, and ends in order. */
import type { Config } from '../config/schema.ts'
import { requirePrivate } from '../config/socket.ts'
import { serveConnection } from '../edge/acp/connection.ts'
import { type ListeningSocket, listenOn } from '../edge/transport/socket.ts'
import type { Wire } from '../edge/transport/wire.ts'
import { type Owner, openOwner } from './compose.ts'
import { serverInfo } from './version.ts'

/** How long a client that has left may still be answered. Milliseconds. */
const PATIENCE = 2_000

export interface RunningServer {
  readonly socket: string
  /** Ends what runs, every connection and every child. Idempotent. */
  stop(): Promise<void>
}

/** Resolves when it accepts connections. Throws STATE_IN_USE when another process owns the state, and SOCKET_UNUSABLE. */
export async function openServer(config: Config): Promise<RunningServer> {
  const owner = await openOwner(config)
  try {
    await owner.owned
    return await listen(config, owner)
  } catch (error) {
    await owner.close()
    throw error
  }
}

async function listen({ socket }: Config, owner: Owner): Promise<RunningServer> {
  const wires = new Set<Wire>()
  requirePrivate(socket, { make: true })
  const listening = await listenOn(socket, {
    connected: (wire) => void serve(owner, wires, wire),
    report: (error) => owner.report(error),
  })
  let stopping: Promise<void> | undefined
  return {
    socket,
    stop() {
      stopping ??= stop(owner, listening, wires)
      return stopping
    },
  }
}

/** Never rejects: a connection that breaks is its own end and nobody else's. */
async function serve(owner: Owner, wires: Set<Wire>, wire: Wire): Promise<void> {
  const { sessions, agents } = owner
  wires.add(wire)
  try {
    await serveConnection(wire, {
      sessions,
      info: serverInfo,
      agents,
      newId: () => owner.newId(),
      report: (error) => owner.report(error),
      patience: () => owner.after(PATIENCE),
    })
  } catch (error) {
    owner.report(error)
  } finally {
    wires.delete(wire)
    await wire.close()
  }
}

async function stop(owner: Owner, listening: ListeningSocket, wires: ReadonlySet<Wire>): Promise<void> {
  listening.close()
  await owner.close()
  await Promise.all([...wires].map((wire) => wire.close()))
}
