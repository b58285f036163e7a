/** Reaches an agent that is no Parley server: starts it, and lends it this machine's files and terminals. */
import { connect } from '../client/connect.ts'
import type { Face } from '../client/face.ts'
import type { Config } from '../config/schema.ts'
import { fail, isParleyError } from '../errors/parley-error.ts'
import { serverInfo } from '../server/version.ts'
import { startAgentProcess } from './agent-process.ts'
import { localFiles } from './local/files.ts'
import { LocalTerminals } from './local/terminals.ts'
import type { Reached } from './reached.ts'
import { newId, pause } from './terminal/pace.ts'

export interface CommandReaching {
  readonly config: Config
  readonly signal?: AbortSignal
}

export async function reachCommand(command: string, { config, signal }: CommandReaching, face: Face): Promise<Reached> {
  const { environment } = config
  const agent = await startAgentProcess(command, environment)
  const terminals = new LocalTerminals(environment)
  const close = async (): Promise<void> => {
    terminals.close()
    await agent.close()
  }
  // One that says nothing must not keep whoever leaves.
  signal?.addEventListener('abort', () => void close())
  try {
    const means = { dial: async () => agent.pipe, pause, newId, lasting: false as const }
    const client = await connect(means, face, { info: serverInfo, serves: { files: localFiles, terminals } })
    return {
      client,
      async close() {
        client.close()
        await close()
      },
    }
  } catch (error) {
    await close()
    const how = agent.ended()
    return isParleyError(error, 'CONNECTION_LOST') && how !== undefined
      ? fail('PROCESS_GONE', { command, reason: how }, error)
      : Promise.reject(error)
  }
}
