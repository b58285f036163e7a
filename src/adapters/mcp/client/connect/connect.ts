/** Connects one MCP server, in the newest way that it knows, and keeps what it offers true. */
import {
  Client,
  METHOD_NOT_FOUND,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  type JsonSchemaValidator,
  type jsonSchemaValidator,
  type PriorDiscovery,
} from '@modelcontextprotocol/client'
import { fail, isParleyError } from '../../../../errors/parley-error.ts'
import type { McpServer } from '../../../../ports/tools.ts'
import type { Connection, ConnectRequest, ServerTool, McpHostContext } from '../../host/mcp-types.ts'
import { LoginNeeded, loginIn } from '../../transport/authorization.ts'
import type { Authorization } from '../../oauth/authorization.ts'
import { answerServer, capabilities, type OpenCall } from '../request/server-requests.ts'
import { configuredHeaders } from '../../transport/headers.ts'
import { isObject } from '../../../checking/json.ts'
import { openTransport } from '../../transport/transport-factory.ts'
import { placeOf, redactor } from '../request/redact.ts'
import { isUnreachable, reasonIn } from '../request/request.ts'
import type { ConnectAttempt, Session, ServerEvents } from './connect-attempt.ts'
import { serve } from './connection.ts'
import { MOST_CHARS_OF_ALL, MOST_TOOLS, TOO_MANY_TOOLS } from '../lists/tool-list.ts'
import { trackRequests, sanitizeResponses } from '../../transport/response-sanitizer.ts'

/**
 * `auto` asks for the newest protocol first, `patient` waits longer for the answer; `modern` takes nothing else, and `assumed`
 * takes it for granted; `sse` is the first one over HTTP.
 */
type Handshake = 'auto' | 'patient' | 'legacy' | 'modern' | 'assumed' | 'sse'

const NEWEST = '2026-07-28'

/** What is taken for granted of a server that is said to speak the newest protocol and does not say what it has. */
const ASSUMED: PriorDiscovery = {
  kind: 'modern',
  discover: {
    resultType: 'complete',
    supportedVersions: [NEWEST],
    capabilities: { tools: {} },
    ttlMs: 0,
    cacheScope: 'private',
  },
}

/** The protocol layer would compile the schemas of servers on the main thread: session.ts checks them, in a thread that can be ended. */
const UNCHECKED: jsonSchemaValidator = {
  getValidator<Value>(): JsonSchemaValidator<Value> {
    return (input) => ({ valid: true, data: input as Value, errorMessage: undefined })
  },
}

/** The code for a protocol that a server does not speak any more. */
const TOO_OLD = -32022

const TOO_LATE = 'it did not answer in time'

/** Throws MCP_CONNECT with a reason that holds no secret. Nothing is left open then. */
export async function connect(request: ConnectRequest, context: McpHostContext): Promise<Connection> {
  const redact = redactor(request.server)
  try {
    return await connectWithFallback({ request, context, redact, authorization: authorizationFor(request, context) })
  } catch (error) {
    if (error instanceof LoginNeeded) return wantsLogin(request)
    const reason = redact(isParleyError(error) ? error.message : reasonFor(error, request)).replace(/\.$/, '')
    return fail('MCP_CONNECT', { server: request.label, reason })
  }
}

/** Whoever configured a header that lets us in wants that and nothing else to be shown. */
function authorizationFor({ server, login }: ConnectRequest, { logins }: McpHostContext): Authorization | undefined {
  if (server.type === 'stdio' || !URL.canParse(server.url)) return undefined
  return 'authorization' in configuredHeaders(server) ? undefined : logins?.at(server, login)
}

/** Who no file names is logged in to by its address, without what may be secret in that. */
function wantsLogin({ server, label, isConfigured }: ConnectRequest): never {
  const { origin, pathname } = new URL(server.type === 'stdio' ? '' : server.url)
  return fail('MCP_LOGIN', { server: label, word: isConfigured ? label : origin + pathname })
}

/** Why an attempt failed, and which other way may work. */
class AttemptFailed extends Error {
  readonly next: Handshake | undefined

  constructor(reason: string, next: Handshake | undefined) {
    super(reason)
    this.next = next
  }
}

/** The question for the newest protocol must do no harm: whoever takes it badly is met anew as if it had not been asked. */
async function connectWithFallback(attempt: ConnectAttempt): Promise<Connection> {
  const { server, signal } = attempt.request
  const tried: { readonly way: Handshake; readonly error: unknown }[] = []
  let next: Handshake | undefined = firstHandshake(attempt)
  while (next !== undefined) {
    const way: Handshake = next
    try {
      return await connectBy(attempt, way)
    } catch (error) {
      tried.push({ way, error })
      if (way === 'legacy') attempt.context.protocolCache.forget(server)
      if (error instanceof LoginNeeded) throw error
      next = signal.aborted || !(error instanceof AttemptFailed) ? undefined : error.next
      if (tried.filter((one) => one.way === next).length >= (next === way ? 2 : 1)) next = undefined
    }
  }
  // That the last resort failed too says nothing of a server that was never meant to be met so.
  throw tried.findLast(({ way }) => way !== 'sse' || server.type === 'sse')?.error
}

function firstHandshake({ request: { server, protocol }, context: { protocolCache } }: ConnectAttempt): Handshake {
  if (server.type === 'sse') return 'sse'
  if (protocol !== 'auto') return protocol
  return protocolCache.isLegacy(server) ? 'legacy' : 'auto'
}

async function connectBy(attempt: ConnectAttempt, way: Handshake): Promise<Connection> {
  const session = await open(attempt, way)
  try {
    const connection = await serve(session, attempt)
    if (way === 'auto' && connection.about.speaks.era === 'legacy')
      attempt.context.protocolCache.foundLegacy(attempt.request.server)
    return connection
  } catch (error) {
    if (error instanceof LoginNeeded) throw error
    // A process may have greeted us well and still be confused by what it was asked before.
    const isProcess = attempt.request.server.type === 'stdio'
    throw new AttemptFailed((error as Error).message, isProcess && way === 'auto' ? 'legacy' : undefined)
  }
}

async function open(attempt: ConnectAttempt, way: Handshake): Promise<Session> {
  const { request, context, redact } = attempt
  let events: ServerEvents = { onChanged: () => undefined, onGone: () => undefined }
  const warned = new Set<string>()
  const warn = (sentence: string): void => {
    if (!warned.has(sentence)) context.warn(`MCP server ${request.label}: ${redact(sentence)}.`)
    warned.add(sentence)
  }
  const requests = trackRequests()
  const link = await openTransport(serverFor(request.server, way), request.cwd, {
    context,
    request,
    resumptions: requests,
    authorization: attempt.authorization,
    events: {
      onStreamBack: () => (['tools', 'resources', 'prompts'] as const).forEach((kind) => events.onChanged(kind)),
      onStreamGone: (reason) => events.onGone(reason),
    },
  })
  const listed: ServerTool[] = []
  let said = 0
  sanitizeResponses(link.transport, requests, {
    label: request.label,
    onAnswer: (method) => context.activity.began(`to read what MCP server ${request.label} answers to ${method}`),
    onTools(tools, faults, chars) {
      // A listing begins with nothing.
      if (listed.length === 0) said = 0
      const isTooMany = listed.length + tools.length > MOST_TOOLS
      for (const tool of tools.slice(0, MOST_TOOLS - listed.length)) listed.push(tool)
      faults.forEach(warn)
      if (isTooMany) warn(TOO_MANY_TOOLS)
      if (isTooMany) return false
      said += chars
      const isEnough = said > MOST_CHARS_OF_ALL
      if (isEnough) warn('it says more of its tools than anyone keeps; what came first is used')
      return !isEnough
    },
  })
  const client = new Client(context.clientInfo, {
    capabilities: capabilities(context),
    jsonSchemaValidator: UNCHECKED,
    versionNegotiation: {
      mode: negotiated(way),
      probe: { timeoutMs: way === 'patient' ? context.limits.connectMs : context.limits.probeMs, maxRetries: 0 },
    },
  })
  const openCalls = new Set<OpenCall>()
  answerServer(client, context, { request, openCalls })
  client.onclose = () => events.onGone(link.end() ?? 'the connection was closed')
  const session: Session = { client, link, openCalls, listed, warn, listen: (next) => void (events = next) }
  await connectWithTimeout(session, attempt, way)
  return session
}

function negotiated(way: Handshake): 'auto' | 'legacy' | { readonly pin: string } {
  if (way === 'modern') return { pin: NEWEST }
  return way === 'auto' || way === 'patient' ? 'auto' : 'legacy'
}

function serverFor(server: McpServer, way: Handshake): McpServer {
  return server.type === 'http' && way === 'sse' ? { ...server, type: 'sse' } : server
}

async function connectWithTimeout({ client, link }: Session, attempt: ConnectAttempt, way: Handshake): Promise<void> {
  const { request, context } = attempt
  const { connectMs, silenceMs, probeMs } = context.limits
  const isTrial =
    (way === 'auto' && request.server.type === 'stdio') || (way === 'sse' && request.server.type === 'http')
  const patience = isTrial ? silenceMs : connectMs
  let late = false
  let giveUp: (error: Error) => void = () => undefined
  const givenUp = new Promise<never>((_, reject) => (giveUp = reject))
  const leave = (): void => {
    // The first transport over HTTP waits for ever for a server that does not say where to post, closed or not.
    giveUp(new SdkError(SdkErrorCode.ConnectionClosed, 'the connection was closed'))
    void link.close()
  }
  request.signal.addEventListener('abort', leave, { once: true })
  const timer = context.clock.setTimer(patience + probeMs, () => {
    late = true
    leave()
  })
  try {
    const known = way === 'assumed' ? { prior: ASSUMED } : {}
    const connected = client.connect(link.transport, { timeout: patience, signal: request.signal, ...known })
    await Promise.race([connected, givenUp])
  } catch (error) {
    const end = link.end()
    await link.close()
    const login = loginIn(error) ?? link.locked()
    if (login !== undefined) throw login
    if (late)
      throw new AttemptFailed(TOO_LATE, fallbackFor(new SdkError(SdkErrorCode.RequestTimeout, TOO_LATE), request, way))
    // A command that cannot be started is not started better a second time.
    if (isParleyError(error) && error.code !== 'PROCESS_GONE') throw error
    throw new AttemptFailed(end ?? reasonFor(error, request), fallbackFor(error, request, way))
  } finally {
    timer.cancel()
    request.signal.removeEventListener('abort', leave)
  }
}

/** A process may have ended or gone silent because of the question; over HTTP only silence leaves it open. */
function fallbackFor(error: unknown, { server, protocol }: ConnectRequest, way: Handshake): Handshake | undefined {
  if (way === 'modern') return isUnreachable(error) ? undefined : 'assumed'
  if (protocol !== 'auto') return undefined
  if (knowsNoHandshake(error)) return 'patient'
  if (server.type === 'stdio') return way === 'auto' ? 'legacy' : 'auto'
  if (server.type === 'sse' || way === 'sse') return undefined
  // It was met in the older way because it was slow once, or was known so: neither says that it is so.
  if (way === 'legacy') return 'patient'
  if (error instanceof SdkHttpError) return speaksOnlySse(error) ? 'sse' : undefined
  return way === 'auto' && error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout
    ? 'legacy'
    : undefined
}

/** It was slow to say that it speaks only the newest protocol; some programs take long to start. */
function knowsNoHandshake(error: unknown): boolean {
  return error instanceof ProtocolError && (error.code === TOO_OLD || error.code === METHOD_NOT_FOUND)
}

/** What a server says that knows nothing of being posted to; one that answers in JSON-RPC knows it well. */
const POSTED_IN_VAIN: ReadonlySet<number> = new Set([400, 404, 405, 406, 410, 415])

function speaksOnlySse({ status, data }: SdkHttpError): boolean {
  return POSTED_IN_VAIN.has(status) && !isJsonRpc(data.text)
}

function isJsonRpc(text: unknown): boolean {
  try {
    const message: unknown = JSON.parse(String(text))
    return isObject(message) && message.jsonrpc === '2.0'
  } catch {
    // A page for people, or nothing.
    return false
  }
}

function reasonFor(error: unknown, { server }: ConnectRequest): string {
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout) return TOO_LATE
  if (server.type === 'stdio' || error instanceof AttemptFailed) return reasonIn(error)
  return `${placeOf(server.url)}: ${reasonIn(error)}`
}
