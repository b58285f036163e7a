/** Sends one request to a server, within its time limits, and turns every failure into an error of ours. */
import {
  InsufficientScopeError,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  type RequestOptions,
} from '@modelcontextprotocol/client'
import { fail, isParleyError, reasonOf } from '../../../../errors/parley-error.ts'
import type { Clock, Timer } from '../../../../ports/clock.ts'
import type { ToolProgress } from '../../../../ports/tools.ts'
import type { CallOptions, Limits } from '../../host/mcp-types.ts'
import { loginNeededBy, RenewalFailed } from '../../transport/authorization.ts'
import type { AskableCall } from './server-requests.ts'
import type { Redact } from './redact.ts'
import { ANSWER_LOST } from '../../transport/incoming-json.ts'

/** The parts of a connection that its requests use. */
export interface RequestContext {
  readonly clock: Clock
  readonly limits: Limits
  readonly redact: Redact
  /** Open calls, whose users the server may ask. */
  readonly openCalls: Set<AskableCall>
  /** Why the connection ended, if it did. */
  readonly end: () => string | undefined
  /** Called when a request shows that the connection is lost. */
  readonly lose: (reason: string) => void
}

/** The server answered with an error. */
export class Refused extends Error {
  readonly code: number
  readonly data: unknown

  constructor({ code, message, data }: { readonly code: number; readonly message: string; readonly data?: unknown }) {
    super(message)
    this.code = code
    this.data = data
  }
}

type Work<Result> = (options: RequestOptions) => Promise<Result>

/** The SDK's own timeout is disabled, because it would count the time in which the user is asked. */
const NO_LIMIT_MS = 2 ** 31 - 1
/** Progress is passed on at most this often. */
const PROGRESS_PAUSE_MS = 100
/** A progress message is one line on the screen. */
const MAX_PROGRESS_CHARS = 1000

/** Throws Refused, or what `ToolRegistry.call` throws. */
export async function sendRequest<Result>(
  context: RequestContext,
  options: CallOptions,
  work: Work<Result>,
): Promise<Result> {
  const { clock, limits, openCalls } = context
  const { name, signal, timeoutMs: quietMs = limits.callMs } = options
  const totalMs = Math.max(1, (options.totalMs ?? limits.callTotalMs) - (options.given?.spentMs ?? 0))
  if (signal.aborted) fail('TOOL_NOT_RUN', { tool: name, reason: 'it was cancelled before it began' })
  const abort = new AbortController()
  const cancel = (): void => abort.abort('cancelled')
  signal.addEventListener('abort', cancel, { once: true })
  let overdue: number | undefined
  const onOver = (ms: number): void => {
    overdue = ms
    abort.abort('the time for one request is over')
  }
  const deadline = startDeadline({ clock, quietMs, totalMs, onOver })
  const asked: AskableCall = { options, pause: () => deadline.pause() }
  openCalls.add(asked)
  const progress = reportProgress(options, deadline, clock)
  try {
    return await work({ signal: abort.signal, timeout: NO_LIMIT_MS, onprogress: progress.onprogress })
  } catch (error) {
    if (signal.aborted) return fail('TOOL_CANCELLED', { tool: name }, error)
    if (overdue !== undefined) return fail('TOOL_TIMEOUT', { tool: name, ms: overdue }, error)
    return failedWith(error, context, name)
  } finally {
    progress.end()
    openCalls.delete(asked)
    deadline.cancel()
    signal.removeEventListener('abort', cancel)
  }
}

interface ProgressReporter {
  readonly onprogress: NonNullable<RequestOptions['onprogress']>
  /** Passes on the last progress that was held back. */
  end(): void
}

function reportProgress({ onProgress }: CallOptions, deadline: Deadline, clock: Clock): ProgressReporter {
  let reportedAt = -Infinity
  let kept: { readonly progress: ToolProgress; readonly timer: Timer } | undefined

  function end(): void {
    if (kept === undefined) return
    const { progress, timer } = kept
    timer.cancel()
    kept = undefined
    reportedAt = clock.monotonicNow()
    onProgress?.(progress)
  }

  function onprogress(given: Parameters<ProgressReporter['onprogress']>[0]): void {
    deadline.touch()
    const timer = kept?.timer ?? clock.setTimer(Math.max(0, reportedAt + PROGRESS_PAUSE_MS - clock.monotonicNow()), end)
    kept = { progress: readProgress(given), timer }
    if (clock.monotonicNow() - reportedAt >= PROGRESS_PAUSE_MS) end()
  }

  return { onprogress, end }
}

function readProgress(progress: {
  progress: number
  total?: number | undefined
  message?: string | undefined
}): ToolProgress {
  return {
    progress: progress.progress,
    ...(progress.total !== undefined && { total: progress.total }),
    ...(progress.message !== undefined && { message: progress.message.slice(0, MAX_PROGRESS_CHARS) }),
  }
}

function failedWith(error: unknown, context: RequestContext, tool: string): never {
  if (error instanceof ProtocolError && error.code !== ANSWER_LOST) throw new Refused(error)
  const login = loginNeededBy(error)
  if (login !== undefined) throw login
  const reason = context.redact(context.end() ?? reasonIn(error))
  if (isDead(error)) context.lose(reason)
  // Without the cause, which may quote secrets that the server was sent.
  return didNotRun(error) ? fail('TOOL_NOT_RUN', { tool, reason }) : fail('TOOL_LOST', { tool, reason })
}

/** Whether the request failed before the server can have processed it, or the server rejected it unprocessed. */
function didNotRun(error: unknown): boolean {
  if (isDead(error) || rootOf(error) instanceof RenewalFailed) return true
  if (error instanceof InsufficientScopeError) return true
  return error instanceof SdkHttpError && error.status >= 400 && error.status < 500
}

/** The server cannot be reached, or has lost our session (404). */
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

/** Whether no connection to the server could be made at all. */
export function isUnreachable(error: unknown): boolean {
  const { code } = rootOf(error) as { readonly code?: unknown }
  return typeof code === 'string' && UNREACHABLE.has(code)
}

/** The most specific reason: the system's error for a failed connection, the status of a rejected request. */
export function reasonIn(error: unknown): string {
  if (error instanceof SdkHttpError) return `the server answered HTTP ${error.status}`
  if (error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed) return 'the connection was closed'
  const reason = reasonOf(rootOf(error))
  // The rest of such a message is JSON over many lines, for developers.
  return reason.endsWith('[') ? 'its answer is not as the protocol says' : reason
}

/** The innermost cause of an error. */
function rootOf(error: unknown): unknown {
  if (error instanceof AggregateError && error.errors.length > 0) return rootOf(error.errors[0])
  return error instanceof Error && error.cause !== undefined ? rootOf(error.cause) : (error ?? 'no reason was given')
}

interface DeadlineOptions {
  readonly clock: Clock
  /** Without an answer or progress. */
  readonly quietMs: number
  /** For the whole call, also with progress. */
  readonly totalMs: number
  /** Called once, with the limit that was exceeded. */
  readonly onOver: (ms: number) => void
}

interface Deadline {
  /** Call it for each sign of life; restarts `quietMs`. */
  touch(): void
  /** Stops the time while the user is asked, until the returned function is called. */
  pause(): () => void
  cancel(): void
}

function startDeadline({ clock, quietMs, totalMs, onOver }: DeadlineOptions): Deadline {
  let left = totalMs
  let since = clock.monotonicNow()
  let held = 0
  let over = false
  let timer: Timer | undefined

  function spend(): void {
    if (held === 0) left -= clock.monotonicNow() - since
    since = clock.monotonicNow()
  }

  function arm(): void {
    timer?.cancel()
    if (held > 0 || over) return
    const [ms, limit] = left < quietMs ? [left, totalMs] : [quietMs, quietMs]
    timer = clock.setTimer(Math.max(ms, 0), () => {
      over = true
      onOver(limit)
    })
  }

  arm()
  return {
    touch() {
      spend()
      arm()
    },
    pause() {
      spend()
      held += 1
      arm()
      let done = false
      return () => {
        if (done) return
        done = true
        spend()
        held -= 1
        arm()
      }
    },
    cancel() {
      over = true
      timer?.cancel()
    },
  }
}
