/** Commands about the machine of a remote server: that server does for them there what they do here for its user. */
import type { Config } from '../../config/settings.ts'
import { type MachineRequest, askMachine } from '../../server/admin/admin-client.ts'
import { remoteOf } from './dial-remote.ts'

interface AskedElsewhere extends MachineRequest {
  /** Ends it. */
  readonly signal?: AbortSignal
}

/** Throws what keeps the server from being asked, and what it refuses. The type of the answer is the method's. */
export async function askElsewhere<Answer>(config: Config, { signal, ...asked }: AskedElsewhere): Promise<Answer> {
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
