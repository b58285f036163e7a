/** Servers in the process of the tests, for commands and clients of which no test says how the server's process behaves. */
import { PerTest } from '../fixtures/process/per-test.ts'
import { socketPathOf } from '../../src/config/socket.ts'
import { type RunningCommand, runCommand } from './command-scope.ts'
import { type Surroundings, environmentOf } from './environment.ts'
import { RawSocket } from './raw-socket.ts'

const hosted = new PerTest<RunningCommand>(async (all) => {
  await Promise.all(all.map(end))
})

function end(server: RunningCommand): Promise<number> {
  // The second one does not wait for turns.
  server.signal('SIGTERM')
  server.signal('SIGTERM')
  return server.ended
}

/** Call once in a test file: no such server outlives its test. */
export function endHosted(): void {
  hosted.closeAfterEach()
}

/** The same for a file whose tests share their servers. */
export function endSharedHosted(): void {
  hosted.closeAfterAll()
}

/** `parley serve`, listening; what it has printed. */
export async function serveHere(place: Surroundings, args: readonly string[] = []): Promise<string> {
  return host(place, args).printed('listens on')
}

/** A server here and one client of it, past the first exchange; the client's `kill` ends both. */
export async function clientHere(place: Surroundings): Promise<RawSocket & { kill(): Promise<void> }> {
  const server = await hostServer(place)
  const client = await RawSocket.open(socketPathOf(place.home), place.agent === undefined ? {} : { agent: place.agent })
  async function kill(): Promise<void> {
    await client.leave()
    await end(server)
  }
  return Object.assign(client, { kill })
}

/** The same for a test that looks at its end. */
export async function hostServer(place: Surroundings): Promise<RunningCommand> {
  const server = host(place)
  await server.printed('listens on')
  return server
}

function host({ env, ...place }: Surroundings, args: readonly string[] = []): RunningCommand {
  // The tests may be busy for long.
  const patient = { PARLEY_MAX_STALL_SECONDS: '0', ...env }
  const server = runCommand(['serve', ...args], { env: environmentOf({ ...place, env: patient }), cwd: '/' })
  hosted.add(server)
  return server
}
