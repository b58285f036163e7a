/** Connects to an agent that is not a Parley server: starts it, and serves this machine's files and terminals to it. */
import { type Client, connect } from '../../client/client.ts'
import type { ClientDelegate } from '../../client/client-delegate.ts'
import type { NoticeKind } from '../../client/initialize.ts'
import type { ClientForms, ClientPages } from '../../client/incoming/client-methods.ts'
import type { Config } from '../../config/settings.ts'
import { ParleyError, isParleyError } from '../../errors/parley-error.ts'
import { serverInfo } from '../../server/server-info.ts'
import { type SpawnedAgent, startAgentProcess } from './agent-process.ts'
import { localFiles } from '../local/local-files.ts'
import { LocalTerminals } from '../local/terminals.ts'
import { progressLine } from '../output/progress-line.ts'
import type { AgentConnection } from './agent-connection.ts'
import { after, newUuid, pause } from '../output/terminal/pace.ts'

export interface CommandConnectOptions {
  readonly command: string
  readonly config: Config
  /** The notices to request from the agent, if it is a Parley server or a relay to one. */
  readonly notices?: readonly NoticeKind[]
  /** Only where a user can visit them. */
  readonly pages?: ClientPages | undefined
  /** Only where a user can fill them in. */
  readonly forms?: ClientForms | undefined
  /** Ends the attempt. */
  readonly signal?: AbortSignal
}

/** How long an agent may say nothing when it is asked: it may have to be fetched first. */
const silenceTimeout = { ms: 120_000, after }

/** How long it may take to be gone once it has closed its side. Milliseconds. */
const LEAVING = 1_000

/** Milliseconds of waiting before the user sees a message. */
const NOTICE_DELAY_MS = 3_000

export async function connectToCommand(options: CommandConnectOptions, face: ClientDelegate): Promise<AgentConnection> {
  const { command, config, notices = [], signal, pages, forms } = options
  const { environment } = config
  const agent = await startAgentProcess(command, environment)
  const terminals = new LocalTerminals(environment)
  const waiting = watch(signal, () => void close())
  const close = async (): Promise<void> => {
    terminals.close()
    await agent.close()
  }
  try {
    const means = { dial: async () => agent.pipe, pause, newId: newUuid, isDurable: false as const, silenceTimeout }
    const client = await connect(means, face, {
      info: serverInfo,
      notices,
      services: { files: localFiles, terminals, pages, forms },
    })
    return {
      client,
      explain: (error) => explained(error, { client, agent }),
      async close() {
        client.close()
        await close()
      },
    }
  } catch (error) {
    await close()
    throw beforeItsName(error, command, agent)
  } finally {
    waiting.release()
  }
}

/** Ends the attempt on abort. After a while it shows the user that it is still waiting. */
function watch(signal: AbortSignal | undefined, leave: () => void) {
  const progress = progressLine(process.stderr)
  const notice = after(NOTICE_DELAY_MS, () =>
    progress.say('Waiting for the agent to introduce itself … (Ctrl-C stops)'),
  )
  signal?.addEventListener('abort', leave, { once: true })
  return {
    release(): void {
      notice()
      progress.done()
      signal?.removeEventListener('abort', leave)
    },
  }
}

/** The agent has not answered `initialize` yet. */
function beforeItsName(error: unknown, command: string, agent: SpawnedAgent): unknown {
  const reason = agent.ended()
  if (isParleyError(error, 'CONNECTION_LOST') && reason !== undefined)
    return new ParleyError('PROCESS_GONE', { command, reason: `${reason}, before it answered initialize` }, error)
  return refused(error, command)
}

interface ConnectedAgent {
  readonly client: Client
  readonly agent: SpawnedAgent
}

async function explained(error: unknown, { client, agent }: ConnectedAgent): Promise<unknown> {
  if (!isParleyError(error, 'CONNECTION_LOST')) return refused(error, client.name)
  // It closes its side a moment before it is gone.
  await agent.gone(LEAVING)
  const reason = agent.ended() ?? 'it closed its side'
  return new ParleyError('AGENT_GONE', { agent: client.name, reason }, error)
}

/** Whose words these are, and what about. */
function refused(error: unknown, agent: string): unknown {
  if (!isParleyError(error, 'PEER_REFUSED')) return error
  const { method, code, reason } = error.details
  return code === AUTH_REQUIRED
    ? new ParleyError('AGENT_SIGN_IN', { agent, reason: sentence(reason) }, error)
    : new ParleyError('AGENT_REFUSED', { agent, method, reason: sentence(reason) }, error)
}

const AUTH_REQUIRED = '-32000'

function sentence(words: string): string {
  return /[.!?…]$/u.test(words) ? words : `${words}.`
}
