/** One call of one tool: its arguments checked, its time bounded, and every way that it can end named. */
import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError, type Client } from '@modelcontextprotocol/client'
import { fail, isParleyError, reasonOf } from '../../../errors/parley-error.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { ToolProgress, ToolResult } from '../../../ports/tools.ts'
import type { CallOptions, Limits, ServerTool } from '../connection.ts'
import { readResult } from './content.ts'
import { isObject, type JsonObject } from './json.ts'
import type { Redact } from './redact.ts'
import { ANSWER_LOST, RAW_RESULT } from './wire.ts'

export interface CallLine {
  readonly client: Client
  readonly clock: Clock
  readonly limits: Limits
  readonly redact: Redact
  /** Why the connection is gone, if it is. */
  readonly end: () => string | undefined
  /** Called when a call shows that the connection is of no more use. */
  readonly lose: (reason: string) => void
}

export interface Call {
  readonly tool: ServerTool
  readonly args: JsonObject
  readonly options: CallOptions
}

export async function callTool(line: CallLine, call: Call): Promise<ToolResult> {
  const { options } = call
  if (options.signal.aborted) fail('TOOL_NOT_RUN', { tool: options.name, reason: 'it was cancelled before it began' })
  const abort = new AbortController()
  const cancel = (): void => abort.abort('cancelled')
  options.signal.addEventListener('abort', cancel, { once: true })
  let overdue = false
  // The protocol layer looks at its own total only when progress comes in, and then ends without telling the server.
  const cap = line.clock.after(line.limits.callTotalMs, () => {
    overdue = true
    abort.abort('the time for one call is over')
  })
  try {
    return await request(line, call, abort.signal)
  } catch (error) {
    if (options.signal.aborted) return fail('TOOL_CANCELLED', { tool: options.name }, error)
    if (overdue) return fail('TOOL_TIMEOUT', { tool: options.name, ms: line.limits.callTotalMs }, error)
    return outcomeOf(error, line, options)
  } finally {
    cap.cancel()
    options.signal.removeEventListener('abort', cancel)
  }
}

async function request(
  { client, limits }: CallLine,
  { tool, args, options }: Call,
  signal: AbortSignal,
): Promise<ToolResult> {
  const answer = await client.callTool(
    { name: tool.original, arguments: args },
    {
      signal,
      timeout: options.timeoutMs ?? limits.callMs,
      maxTotalTimeout: limits.callTotalMs,
      resetTimeoutOnProgress: true,
      onprogress: (progress) => options.onProgress?.(readProgress(progress)),
    },
  )
  const raw = answer._meta?.[RAW_RESULT]
  return readResult(isObject(raw) ? raw : answer)
}

function readProgress(progress: {
  progress: number
  total?: number | undefined
  message?: string | undefined
}): ToolProgress {
  return {
    progress: progress.progress,
    ...(progress.total !== undefined && { total: progress.total }),
    ...(progress.message !== undefined && { message: progress.message }),
  }
}

/** A server's refusal is an answer, for the agent to read; everything else is thrown. */
function outcomeOf(error: unknown, line: CallLine, { name, timeoutMs = line.limits.callMs }: CallOptions): ToolResult {
  if (error instanceof ProtocolError && error.code !== ANSWER_LOST) {
    return { content: [{ type: 'text', text: line.redact(error.message) }], isError: true }
  }
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout) {
    return fail('TOOL_TIMEOUT', { tool: name, ms: timeoutMs })
  }
  const reason = line.redact(line.end() ?? reasonIn(error))
  if (isDead(error)) line.lose(reason)
  // The cause stays behind: it may quote what the server was sent.
  return didNotRun(error) ? fail('TOOL_NOT_RUN', { tool: name, reason }) : fail('TOOL_LOST', { tool: name, reason })
}

/** Said of failures that happen before a server can have read the whole call, or that it refused unread. */
function didNotRun(error: unknown): boolean {
  return isDead(error) || (error instanceof SdkHttpError && error.status >= 400 && error.status < 500)
}

/** Nobody listens at the other end, or nobody who knows us: a server that has forgotten a session says 404. */
function isDead(error: unknown): boolean {
  if (error instanceof SdkHttpError) return error.status === 404
  if (error instanceof SdkError) return error.code === SdkErrorCode.NotConnected
  const refused = isParleyError(error, 'PROCESS_GONE') || (error instanceof Error && error.message === 'Not connected')
  return refused || isUnreachable(error)
}

const UNREACHABLE = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
])

/** Whether no connection to the server came about at all. */
export function isUnreachable(error: unknown): boolean {
  const { code } = rootOf(error) as { readonly code?: unknown }
  return typeof code === 'string' && UNREACHABLE.has(code)
}

/** The word that says most: the system's for a connection that failed, the status for one that was refused. */
export function reasonIn(error: unknown): string {
  if (error instanceof SdkHttpError) return `the server answered HTTP ${error.status}`
  if (error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed) return 'the connection was closed'
  return reasonOf(rootOf(error))
}

/** What an error says was its cause, and the cause of that. */
function rootOf(error: unknown): unknown {
  if (error instanceof AggregateError && error.errors.length > 0) return rootOf(error.errors[0])
  return error instanceof Error && error.cause !== undefined ? rootOf(error.cause) : (error ?? 'no reason was given')
}
