/** Connects to one MCP server with the newest protocol that it speaks. A server that fails is tried with an older handshake. */
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
import type { ServerConnection, ConnectRequest, ServerTool, McpHostContext } from '../../host/mcp-types.ts'
import { LoginNeeded, loginNeededBy } from '../../transport/authorization.ts'
import type { Authorization } from '../../oauth/authorization.ts'
import { answerServer, capabilities, type AskableCall } from '../request/server-requests.ts'
import { configuredHeaders } from '../../transport/headers.ts'
import { isObject } from '../../../checking/json.ts'
import { openMcpTransport } from '../../transport/transport-factory.ts'
import { serverOrigin, redactor } from '../request/redact.ts'
import { isUnreachable, reasonIn } from '../request/request.ts'
import type { ConnectAttempt, ClientSession, ServerEvents } from './connect-attempt.ts'
import { openServerConnection } from './connection.ts'
import { MAX_LIST_CHARS, MAX_TOOLS, TOO_MANY_TOOLS } from '../lists/tool-list.ts'
import { trackRequests, sanitizeResponses } from '../../transport/response-sanitizer.ts'

/**
 * `auto` offers the newest protocol first, and `patient` waits longer for the answer. `modern` accepts only the newest, `assumed`
 * uses it without asking. `legacy` is the older handshake, `sse` the first protocol over HTTP.
 */
type Handshake = 'auto' | 'patient' | 'legacy' | 'modern' | 'assumed' | 'sse'

const NEWEST = '2026-07-28'

/** The assumed answer of a server that is configured as modern and does not describe itself. */
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

/** The SDK would compile the schemas of servers on the main thread; connection.ts checks values in a thread that can be ended. */
const UNCHECKED: jsonSchemaValidator = {
  getValidator<Value>(): JsonSchemaValidator<Value> {
    return (input) => ({ valid: true, data: input as Value, errorMessage: undefined })
  },
}

/** The error code of a server that no longer speaks the requested protocol. */
const TOO_OLD = -32022

const TOO_LATE = 'it did not answer in time'

/** Throws MCP_CONNECT with a reason that contains no secret, or MCP_LOGIN. Nothing stays open then. */
export async function connectServer(request: ConnectRequest, context: McpHostContext): Promise<ServerConnection> {
  const redact = redactor(request.server)
  try {
    return await connectWithFallback({ request, context, redact, authorization: authorizationFor(request, context) })
  } catch (error) {
    if (error instanceof LoginNeeded) return wantsLogin(request)
    const reason = redact(isParleyError(error) ? error.message : reasonFor(error, request)).replace(/\.$/, '')
    return fail('MCP_CONNECT', { server: request.label, reason })
  }
}

/** None when the user configured an authorization header: then only that is sent. */
function authorizationFor({ server, login }: ConnectRequest, { logins }: McpHostContext): Authorization | undefined {
  if (server.type === 'stdio' || !URL.canParse(server.url)) return undefined
  return 'authorization' in configuredHeaders(server) ? undefined : logins?.at(server, login)
}

/** The login command needs a name; a server that no file configures is named by its URL, without the query, which may be secret. */
function wantsLogin({ server, label, isConfigured }: ConnectRequest): never {
  const { origin, pathname } = new URL(server.type === 'stdio' ? '' : server.url)
  return fail('MCP_LOGIN', { server: label, word: isConfigured ? label : origin + pathname })
}

/** Why an attempt failed, and which handshake to try next. */
class AttemptFailed extends Error {
  readonly next: Handshake | undefined

  constructor(reason: string, next: Handshake | undefined) {
    super(reason)
    this.next = next
  }
}

/** A server that reacts badly to the newest handshake gets a fresh connection with an older one. */
async function connectWithFallback(attempt: ConnectAttempt): Promise<ServerConnection> {
  const { server, signal } = attempt.request
  const tried: { readonly handshake: Handshake; readonly error: unknown }[] = []
  let next: Handshake | undefined = firstHandshake(attempt)
  while (next !== undefined) {
    const handshake: Handshake = next
    try {
      return await connectBy(attempt, handshake)
    } catch (error) {
      tried.push({ handshake, error })
      if (handshake === 'legacy') attempt.context.protocolCache.forget(server)
      if (error instanceof LoginNeeded) throw error
      next = signal.aborted || !(error instanceof AttemptFailed) ? undefined : error.next
      if (tried.filter((one) => one.handshake === next).length >= (next === handshake ? 2 : 1)) next = undefined
    }
  }
  // The failure of the last resort says nothing about a server that was never meant to speak SSE.
  throw tried.findLast(({ handshake }) => handshake !== 'sse' || server.type === 'sse')?.error
}

function firstHandshake({ request: { server, protocol }, context: { protocolCache } }: ConnectAttempt): Handshake {
  if (server.type === 'sse') return 'sse'
  if (protocol !== 'auto') return protocol
  return protocolCache.isLegacy(server) ? 'legacy' : 'auto'
}

async function connectBy(attempt: ConnectAttempt, handshake: Handshake): Promise<ServerConnection> {
  const session = await open(attempt, handshake)
  try {
    const connection = await openServerConnection(session, attempt)
    if (handshake === 'auto' && connection.about.speaks.era === 'legacy')
      attempt.context.protocolCache.foundLegacy(attempt.request.server)
    return connection
  } catch (error) {
    if (error instanceof LoginNeeded) throw error
    // A process may answer the handshake and still be confused by the probe before it.
    const isProcess = attempt.request.server.type === 'stdio'
    throw new AttemptFailed((error as Error).message, isProcess && handshake === 'auto' ? 'legacy' : undefined)
  }
}

async function open(attempt: ConnectAttempt, handshake: Handshake): Promise<ClientSession> {
  const { request, context, redact } = attempt
  let events: ServerEvents = { onChanged: () => undefined, onGone: () => undefined }
  const warned = new Set<string>()
  const warn = (sentence: string): void => {
    if (!warned.has(sentence)) context.warn(`MCP server ${request.label}: ${redact(sentence)}.`)
    warned.add(sentence)
  }
  const requests = trackRequests()
  const transport = await openMcpTransport(serverFor(request.server, handshake), request.cwd, {
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
  let listedChars = 0
  sanitizeResponses(transport.sdk, requests, {
    label: request.label,
    onAnswer: (method) => context.activity.began(`to read what MCP server ${request.label} answers to ${method}`),
    onTools(tools, faults, chars) {
      // A new listing starts.
      if (listed.length === 0) listedChars = 0
      const isTooMany = listed.length + tools.length > MAX_TOOLS
      for (const tool of tools.slice(0, MAX_TOOLS - listed.length)) listed.push(tool)
      faults.forEach(warn)
      if (isTooMany) warn(TOO_MANY_TOOLS)
      if (isTooMany) return false
      listedChars += chars
      const isEnough = listedChars > MAX_LIST_CHARS
      if (isEnough) warn('its tool definitions are too large; the first ones are used')
      return !isEnough
    },
  })
  const client = new Client(context.clientInfo, {
    capabilities: capabilities(context),
    jsonSchemaValidator: UNCHECKED,
    versionNegotiation: {
      mode: negotiated(handshake),
      probe: { timeoutMs: handshake === 'patient' ? context.limits.connectMs : context.limits.probeMs, maxRetries: 0 },
    },
  })
  const openCalls = new Set<AskableCall>()
  answerServer(client, context, { request, openCalls })
  client.onclose = () => events.onGone(transport.end() ?? 'the connection was closed')
  const session: ClientSession = { client, transport, openCalls, listed, warn, listen: (next) => void (events = next) }
  await connectWithTimeout(session, attempt, handshake)
  return session
}

function negotiated(handshake: Handshake): 'auto' | 'legacy' | { readonly pin: string } {
  if (handshake === 'modern') return { pin: NEWEST }
  return handshake === 'auto' || handshake === 'patient' ? 'auto' : 'legacy'
}

function serverFor(server: McpServer, handshake: Handshake): McpServer {
  return server.type === 'http' && handshake === 'sse' ? { ...server, type: 'sse' } : server
}

async function connectWithTimeout(
  { client, transport }: ClientSession,
  attempt: ConnectAttempt,
  handshake: Handshake,
): Promise<void> {
  const { request, context } = attempt
  const { connectMs, silenceMs, probeMs } = context.limits
  const isTrial =
    (handshake === 'auto' && request.server.type === 'stdio') || (handshake === 'sse' && request.server.type === 'http')
  const timeoutMs = isTrial ? silenceMs : connectMs
  let late = false
  let giveUp: (error: Error) => void = () => undefined
  const givenUp = new Promise<never>((_, reject) => (giveUp = reject))
  const leave = (): void => {
    // The SSE transport waits forever for a server that does not send its endpoint, even after it was closed.
    giveUp(new SdkError(SdkErrorCode.ConnectionClosed, 'the connection was closed'))
    void transport.close()
  }
  request.signal.addEventListener('abort', leave, { once: true })
  const timer = context.clock.setTimer(timeoutMs + probeMs, () => {
    late = true
    leave()
  })
  try {
    const known = handshake === 'assumed' ? { prior: ASSUMED } : {}
    const connected = client.connect(transport.sdk, { timeout: timeoutMs, signal: request.signal, ...known })
    await Promise.race([connected, givenUp])
  } catch (error) {
    const end = transport.end()
    await transport.close()
    const login = loginNeededBy(error) ?? transport.locked()
    if (login !== undefined) throw login
    if (late)
      throw new AttemptFailed(
        TOO_LATE,
        fallbackFor(new SdkError(SdkErrorCode.RequestTimeout, TOO_LATE), request, handshake),
      )
    // A command that cannot be started fails the second time too.
    if (isParleyError(error) && error.code !== 'PROCESS_GONE') throw error
    throw new AttemptFailed(end ?? reasonFor(error, request), fallbackFor(error, request, handshake))
  } finally {
    timer.cancel()
    request.signal.removeEventListener('abort', leave)
  }
}

/** The probe may have made a process end or go silent; over HTTP only silence leaves that open. */
function fallbackFor(
  error: unknown,
  { server, protocol }: ConnectRequest,
  handshake: Handshake,
): Handshake | undefined {
  if (handshake === 'modern') return isUnreachable(error) ? undefined : 'assumed'
  if (protocol !== 'auto') return undefined
  if (knowsNoHandshake(error)) return 'patient'
  if (server.type === 'stdio') return handshake === 'auto' ? 'legacy' : 'auto'
  if (server.type === 'sse' || handshake === 'sse') return undefined
  // The legacy handshake was chosen because the server was slow, or from the cache; neither proves that it is legacy.
  if (handshake === 'legacy') return 'patient'
  if (error instanceof SdkHttpError) return speaksOnlySse(error) ? 'sse' : undefined
  return handshake === 'auto' && error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout
    ? 'legacy'
    : undefined
}

/** The server speaks only the newest protocol but answered the probe too late; some programs start slowly. */
function knowsNoHandshake(error: unknown): boolean {
  return error instanceof ProtocolError && (error.code === TOO_OLD || error.code === METHOD_NOT_FOUND)
}

/** HTTP statuses of a server that does not accept POST. A server that answers in JSON-RPC does accept it. */
const POSTED_IN_VAIN: ReadonlySet<number> = new Set([400, 404, 405, 406, 410, 415])

function speaksOnlySse({ status, data }: SdkHttpError): boolean {
  return POSTED_IN_VAIN.has(status) && !isJsonRpc(data.text)
}

function isJsonRpc(text: unknown): boolean {
  try {
    const message: unknown = JSON.parse(String(text))
    return isObject(message) && message.jsonrpc === '2.0'
  } catch {
    // A web page, or nothing.
    return false
  }
}

function reasonFor(error: unknown, { server }: ConnectRequest): string {
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout) return TOO_LATE
  if (server.type === 'stdio' || error instanceof AttemptFailed) return reasonIn(error)
  return `${serverOrigin(server.url)}: ${reasonIn(error)}`
}
