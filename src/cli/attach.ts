/** A client of an owner in this process: what every command that prompts begins with. */
import { type Client, type Face, connect } from '../client/connect.ts'
import { linePipe } from '../client/pipe.ts'
import type { Config } from '../config/schema.ts'
import { openEmbedded } from '../server/embedded.ts'
import { serverInfo } from '../server/version.ts'

export interface Attached {
  readonly client: Client
  /** Ends the connection and the owner; a turn that runs is interrupted. */
  close(): Promise<void>
}

export async function attach(config: Config, face: Face): Promise<Attached> {
  const server = await openEmbedded(config)
  try {
    const client = await connect(linePipe(server.output, server.input), face, serverInfo)
    return {
      client,
      async close() {
        client.close()
        await server.close()
      },
    }
  } catch (error) {
    await server.close()
    throw error
  }
}
