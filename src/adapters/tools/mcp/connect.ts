/** Connects one MCP server, in the newest protocol that it speaks, and keeps its list of tools true. */
import { Client, SdkError, SdkErrorCode } from '@modelcontextprotocol/client'
import { fail, isParleyError } from '../../../errors/parley-error.ts'
import type { Connection, ConnectRequest, ServerTool, Surroundings } from '../connection.ts'
import { reasonIn } from './call.ts'
import { openLink } from './link.ts'
import { placeOf, redactor } from './redact.ts'
import { serve, type Attempt, type Session, type SessionEvents } from './session.ts'
import { watchWire } from './wire.ts'

const TOO_LATE = 'it did not answer in time'

/** Throws MCP_CONNECT with a reason that holds no secret. Nothing is left open then. */
export async function connect(request: ConnectRequest, around: Surroundings): Promise<Connection> {
  const redact = redactor(request.server)
  const attempt: Attempt = { request, around, redact }
  try {
    const session = await firstThatWorks(attempt)
    return await serve(session, attempt)
  } catch (error) {
    const reason = redact(isParleyError(error) ? error.message : reasonFor(error, request)).replace(/\.$/, '')
    return fail('MCP_CONNECT', { server: request.label, reason })
  }
}

/** Why an attempt failed, and whether an older way of connecting may work. */
class AttemptFailed extends Error {
  readonly mayBeOld: boolean

  constructor(reason: string, mayBeOld: boolean) {
    super(reason)
    this.mayBeOld = mayBeOld
  }
}

/** The newest protocol asks a question first; a server that dies of it, or never answers, is met anew in the old way. */
async function firstThatWorks(attempt: Attempt): Promise<Session> {
  if (attempt.request.server.type === 'sse') return await open(attempt, 'legacy')
  try {
    return await open(attempt, 'auto')
  } catch (error) {
    if (!(error instanceof AttemptFailed && error.mayBeOld) || attempt.request.signal.aborted) throw error
    return await open(attempt, 'legacy')
  }
}

async function open(attempt: Attempt, mode: 'auto' | 'legacy'): Promise<Session> {
  const { request, around } = attempt
  let events: SessionEvents = { onChanged: () => undefined, onGone: () => undefined }
  const link = openLink(request.server, request.cwd, {
    around,
    events: { onStreamBack: () => events.onChanged(), onStreamGone: (reason) => events.onGone(reason) },
  })
  const listed: ServerTool[] = []
  watchWire(link.transport, {
    onTools(tools, faults) {
      listed.push(...tools)
      for (const fault of faults) around.warn(`MCP server ${request.label}: ${attempt.redact(fault)}.`)
    },
  })
  const client = new Client(around.clientInfo, {
    capabilities: {},
    versionNegotiation: { mode, probe: { timeoutMs: around.limits.probeMs, maxRetries: 0 } },
  })
  client.onclose = () => events.onGone(link.end() ?? 'the connection was closed')
  const session: Session = { client, link, listed, listen: (next) => void (events = next) }
  await shakeHands(session, attempt, mode)
  return session
}

async function shakeHands({ client, link }: Session, attempt: Attempt, mode: 'auto' | 'legacy'): Promise<void> {
  const { request, around } = attempt
  const { connectMs, silenceMs } = around.limits
  const patience = mode === 'auto' && request.server.type === 'stdio' ? silenceMs : connectMs
  let late = false
  const leave = (): void => void link.close()
  request.signal.addEventListener('abort', leave, { once: true })
  const timer = around.clock.after(connectMs + around.limits.probeMs, () => {
    late = true
    leave()
  })
  try {
    await client.connect(link.transport, { timeout: patience, signal: request.signal })
  } catch (error) {
    await link.close()
    if (late) throw new AttemptFailed(TOO_LATE, true)
    // A command that cannot be started is not started better a second time.
    if (isParleyError(error) && error.code !== 'PROCESS_GONE') throw error
    throw new AttemptFailed(link.end() ?? reasonFor(error, request), mayBeOld(error, request))
  } finally {
    timer.cancel()
    request.signal.removeEventListener('abort', leave)
  }
}

/** Over HTTP only silence leaves the question open; a process may also have ended because of it. */
function mayBeOld(error: unknown, { server }: ConnectRequest): boolean {
  if (server.type === 'stdio') return true
  return error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout
}

function reasonFor(error: unknown, { server }: ConnectRequest): string {
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout) return TOO_LATE
  if (server.type === 'stdio' || error instanceof AttemptFailed) return reasonIn(error)
  return `${placeOf(server.url)}: ${reasonIn(error)}`
}
