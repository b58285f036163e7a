/** How a command reaches the sessions: through the server of the state directory, started if need be, or in this process. */
import { hostname, userInfo } from 'node:os'
import { type Client, connect } from '../../client/client.ts'
import type { ClientDelegate } from '../../client/client-delegate.ts'
import type { ClientOptions, NoticeKind } from '../../client/initialize.ts'
import type { ClientForms, ClientPages } from '../../client/incoming/client-methods.ts'
import { openLineTransport } from '../../client/connection/transport.ts'
import { agentName } from '../../config/agent-choice.ts'
import type { Config } from '../../config/settings.ts'
import { ParleyError, fail, isParleyError } from '../../errors/parley-error.ts'
import { readPidFile } from '../../server/daemon/pid-file.ts'
import { dial, startServer } from '../../server/launch/launch.ts'
import { serverInfo } from '../../server/server-info.ts'
import { EMBEDDED_REMEDY, dieAtOnce } from './exit-on-journal-loss.ts'
import { progressLine } from '../output/progress-line.ts'
import type { AgentConnection } from './agent-connection.ts'
import { takeOver } from './takeover.ts'
import { after, newUuid, pause } from '../output/terminal/pace.ts'
import { runningCommand } from '../runtime/running-command.ts'
import { complain } from '../say.ts'

export interface ConnectOptions {
  readonly config: Config
  /** Owner and agent in this process. */
  readonly embedded: boolean
  /** Starts another agent, which is spoken to in place of a Parley server. */
  readonly agentCommand?: string | undefined
  readonly notices?: readonly NoticeKind[]
  /** Updates say when they were stored and who sent them, and turns how they ended; see `ClientOptions`. */
  readonly places?: boolean
  /** The user's activity in this client, which other clients of the session are shown. */
  readonly doing?: 'chat' | 'attach' | 'run'
  /** Only where a user can visit them. */
  readonly pages?: ClientPages | undefined
  /** Only where a user can fill them in. */
  readonly forms?: ClientForms | undefined
  /** Aborts when the user stops the command, so that a hanging server does not block it. */
  readonly signal?: AbortSignal
}

/** How long a server may be silent before the user sees a message. */
const SILENCE_MS = 10_000

export async function openAgentConnection(options: ConnectOptions, face: ClientDelegate): Promise<AgentConnection> {
  const { agentCommand } = options
  const { server } = runningCommand()
  const other = options.embedded ? '--embedded' : agentCommand === undefined ? undefined : '--agent-command'
  const reason = 'it uses no server, and --server names one: leave out one of the two'
  if (server !== undefined && other !== undefined) fail('CONFIG_INVALID', { key: other, value: 'set', reason })
  if (agentCommand?.trim() === '')
    fail('CONFIG_INVALID', {
      key: '--agent-command',
      value: JSON.stringify(agentCommand),
      reason: 'it must be the command of an agent',
    })
  if (agentCommand !== undefined) {
    const { connectToCommand } = await import('./connect-command.ts')
    return connectToCommand({ ...options, command: agentCommand }, face)
  }
  if (options.embedded) return connectEmbedded(options, face)
  return options.config.server === undefined ? connectToServer(options, face) : connectToRemote(options, face)
}

/** To a remote server: it is not started, not replaced by a newer one, and gets none of this machine's keys. */
async function connectToRemote(options: ConnectOptions, face: ClientDelegate): Promise<AgentConnection> {
  const { dialRemote } = await import('../remote/dial-remote.ts')
  const { agent, ...rest } = clientOptions(options)
  const chosen = agent?.chosen === true ? { agent } : {}
  const client = await connect({ dial: dialRemote(options.config, options.signal), pause, newId: newUuid }, face, {
    ...rest,
    ...chosen,
  })
  return {
    client,
    async close() {
      client.close()
    },
    explain: async (error) => explainDirectory(error, options.config.server ?? ''),
  }
}

/** A refused working directory was one of this machine, so the error says how to name one of the server. */
function explainDirectory(error: unknown, server: string): unknown {
  if (!isParleyError(error, 'PEER_REFUSED')) return error
  const { code, reason } = error.details
  const isOfDirectory = (code === 'DIRECTORY_MISSING' || code === 'DIRECTORY_FOREIGN') && reason.startsWith('cwd ')
  return isOfDirectory ? new ParleyError('DIRECTORY_THERE', { reason, server }, error) : error
}

async function connectToServer(options: ConnectOptions, face: ClientDelegate): Promise<AgentConnection> {
  const { config } = options
  const leaving = new AbortController()
  options.signal?.addEventListener('abort', () => leaving.abort())
  if (options.signal?.aborted === true) leaving.abort()
  const client = await warnIfSilent(config, () =>
    connect({ dial: () => dialServer(config, leaving.signal), pause, newId: newUuid }, face, {
      ...clientOptions(options),
      lent: config.providerVariables,
    }),
  )
  const close = (): void => {
    client.close()
    leaving.abort()
  }
  try {
    await takeOver(client, { version: serverInfo.version, config })
  } catch (error) {
    close()
    throw error
  }
  return {
    client,
    async close() {
      close()
    },
  }
}

/** A server that accepts connections and answers none may do so for ever, so the user sees a message. */
async function warnIfSilent({ home }: Config, connecting: () => Promise<Client>): Promise<Client> {
  const answered = after(SILENCE_MS, () => {
    const silent = new ParleyError('SERVER_SILENT', { pid: readPidFile(home)?.pid ?? null })
    complain(silent.message)
  })
  try {
    return await retryOnce(connecting)
  } finally {
    answered()
  }
}

/** A server that ends during initialize has been asked nothing yet, so the next one is started. */
async function retryOnce(connecting: () => Promise<Client>): Promise<Client> {
  try {
    return await connecting()
  } catch (error) {
    if (!isParleyError(error, 'CONNECTION_LOST')) throw error
    return await connecting()
  }
}

async function dialServer({ home, socket, environment }: Config, signal: AbortSignal) {
  const progress = progressLine(process.stderr)
  const program = process.argv[1] ?? ''
  try {
    await startServer({ home, socket, environment, program, signal }, (text) => progress.say(text))
  } finally {
    progress.done()
  }
  const connection = await dial(socket)
  signal.addEventListener('abort', () => connection.destroySoon())
  if (signal.aborted) connection.destroy()
  connection.on('error', () => {
    // The reader of the connection reports its end.
  })
  const pipe = openLineTransport(connection, connection)
  return {
    ...pipe,
    close() {
      pipe.close()
      // A server that hangs must not keep a command from ending.
      connection.unref()
    },
  }
}

async function connectEmbedded(options: ConnectOptions, face: ClientDelegate): Promise<AgentConnection> {
  // The owner is most of the program. A command that uses a running server does not load it.
  const { openEmbedded } = await import('../../server/daemon/embedded.ts')
  const server = await openEmbedded(options.config)
  void server.lost.then((why) => dieAtOnce(why, EMBEDDED_REMEDY))
  let dialled = false
  const dialOnce = async () => {
    if (dialled) fail('CONNECTION_LOST', { method: 'initialize' })
    dialled = true
    return openLineTransport(server.output, server.input)
  }
  try {
    const client = await connect(
      { dial: dialOnce, pause, newId: newUuid, isDurable: false },
      face,
      clientOptions(options),
    )
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

function clientOptions({ config, notices = [], places = false, pages, forms, doing }: ConnectOptions): ClientOptions {
  const { clientToken: token } = config
  return {
    info: doing === undefined ? serverInfo : { ...serverInfo, title: `${userAtHost()} (${doing})` },
    notices,
    places,
    token,
    services: { pages, forms },
    agent: { name: agentName(config.agent), chosen: config.agentChosen },
  }
}

/** `ada@laptop`; the user's number if the system has no name for it. */
function userAtHost(): string {
  const host = hostname()
  try {
    return `${userInfo().username}@${host}`
  } catch {
    return `${process.getuid?.() ?? 'user'}@${host}`
  }
}
