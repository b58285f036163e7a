/** Servers in the process of the tests, for commands and clients of which no test says how the server's process behaves. */
import { PerTest } from '../fixtures/process/per-test.ts'
import { type RunningCommand, runCommand } from './command-scope.ts'
import { type Surroundings, environmentOf } from './environment.ts'

const hosted = new PerTest<RunningCommand>(async (all) => {
  await Promise.all(
    all.map((server) => {
      // The second one does not wait for turns.
      server.signal('SIGTERM')
      server.signal('SIGTERM')
      return server.ended
    }),
  )
})

/** Call once in a test file: no such server outlives its test. */
export function endHosted(): void {
  hosted.closeAfterEach()
}

/** The same for a file whose tests share their servers. */
export function endSharedHosted(): void {
  hosted.closeAfterAll()
}

/** `parley serve`, listening; what it has printed. */
export async function serveHere({ env, ...place }: Surroundings, args: readonly string[] = []): Promise<string> {
  // The tests may be busy for long.
  const patient = { PARLEY_MAX_STALL_SECONDS: '0', ...env }
  const server = runCommand(['serve', ...args], { env: environmentOf({ ...place, env: patient }), cwd: '/' })
  hosted.add(server)
  return server.printed('listens on')
}
