/** Reaches an agent that is no Parley server: starts it, and lends it this machine's files and terminals. */
import { type Client, connect } from '../client/connect.ts'
import type { Face } from '../client/face.ts'
import type { ClientPages } from '../client/serving.ts'
import type { Config } from '../config/schema.ts'
import { ParleyError, isParleyError } from '../errors/parley-error.ts'
import { serverInfo } from '../server/version.ts'
import { type AgentProcess, startAgentProcess } from './agent-process.ts'
import { localFiles } from './local/files.ts'
import { LocalTerminals } from './local/terminals.ts'
import { passing } from './passing.ts'
import type { Reached } from './reached.ts'
import { after, newId, pause } from './terminal/pace.ts'

export interface ReachingCommand {
  readonly command: string
  readonly config: Config
  /** Where there is somebody to visit them. */
  readonly pages?: ClientPages | undefined
  /** Ends the attempt. */
  readonly signal?: AbortSignal
}

/** How long an agent may take to introduce itself, and to be gone once it has closed its side: it may have to be fetched first. Milliseconds. */
const SILENCE = 120_000
const LEAVING = 1_000

/** When a person begins to wonder. Milliseconds. */
const UNEASE = 3_000

export async function reachCommand({ command, config, signal, pages }: ReachingCommand, face: Face): Promise<Reached> {
  const { environment } = config
  const agent = await startAgentProcess(command, environment)
  const terminals = new LocalTerminals(environment)
  const patience = watch(signal, () => void close())
  const close = async (): Promise<void> => {
    terminals.close()
    await agent.close()
  }
  try {
    const means = { dial: async () => agent.pipe, pause, newId, lasting: false as const }
    const client = await connect(means, face, {
      info: serverInfo,
      serves: { files: localFiles, terminals, ...(pages && { pages }) },
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
    if (patience.isOver) throw new ParleyError('AGENT_SILENT', { command, seconds: SILENCE / 1000 }, error)
    throw beforeItsName(error, command, agent)
  } finally {
    patience.release()
  }
}

/** Has the attempt left when it takes too long, or when somebody stops it; a person is told that it waits. */
function watch(signal: AbortSignal | undefined, leave: () => void) {
  const patience = { isOver: false, release }
  const progress = passing(process.stderr)
  const notice = after(UNEASE, () => progress.say('Waiting for the agent to introduce itself … (Ctrl-C stops)'))
  const end = after(SILENCE, () => {
    patience.isOver = true
    leave()
  })
  function release(): void {
    notice()
    end()
    progress.done()
    signal?.removeEventListener('abort', leave)
  }
  signal?.addEventListener('abort', leave, { once: true })
  return patience
}

/** It has not said yet what it is called. */
function beforeItsName(error: unknown, command: string, agent: AgentProcess): unknown {
  const reason = agent.ended()
  if (isParleyError(error, 'CONNECTION_LOST') && reason !== undefined)
    return new ParleyError('PROCESS_GONE', { command, reason }, error)
  return refused(error, command)
}

interface Known {
  readonly client: Client
  readonly agent: AgentProcess
}

async function explained(error: unknown, { client, agent }: Known): Promise<unknown> {
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
