/** Requests to a remote server about its machine, for commands such as `parley mcp`, `rules` and `logs`. */
import type { Config } from '../../config/settings.ts'
import { type MachineRequest, askMachine } from '../../server/admin/admin-client.ts'
import { remoteOf } from './dial-remote.ts'

interface RemoteRequest extends MachineRequest {
  /** Cancels the request. */
  readonly signal?: AbortSignal
}

/** Throws why the server cannot be reached, and the errors with which it answers. The caller knows the type of the answer. */
export async function askRemote<Answer>(config: Config, { signal, ...asked }: RemoteRequest): Promise<Answer> {
  const { connect } = await remoteOf(config)
  const dial = async (open: NonNullable<typeof connect>) => {
    const stream = await open()
    const stop = (): void => void stream.destroy()
    signal?.addEventListener('abort', stop)
    stream.once('close', () => signal?.removeEventListener('abort', stop))
    return stream
  }
  return (await askMachine({ ...config, ...(connect && { connect: () => dial(connect) }) }, asked)) as Answer
}
