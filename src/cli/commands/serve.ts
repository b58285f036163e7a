/** `parley serve`: the server in the foreground, until it is told to stop. */
import { loadConfig } from '../../config/load.ts'
import { openServer } from '../../server/serve.ts'

export async function run(): Promise<number> {
  const server = await openServer(await loadConfig())
  process.stderr.write(`Parley listens on ${server.socket}\n`)
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, () => resolve())
  })
  await server.stop()
  return 0
}
