/** One request to a server: its time bounded, and every way that it can end named. */
import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError, type RequestOptions } from '@modelcontextprotocol/client'
import { fail, isParleyError, reasonOf } from '../../../../errors/parley-error.ts'
import type { Clock, Timer } from '../../../../ports/clock.ts'
import type { ToolProgress } from '../../../../ports/tools.ts'
import type { CallOptions, Limits } from '../../host/mcp-types.ts'
import { loginIn, RenewalFailed } from '../../transport/authorization.ts'
import type { OpenCall } from './server-requests.ts'
import type { Redact } from './redact.ts'
import { ANSWER_LOST } from '../../transport/response-sanitizer.ts'

/** What requests need of the connection that they go over. */
export interface RequestContext {
  readonly clock: Clock
  readonly limits: Limits
  readonly redact: Redact
  /** Whom the server may ask while a request is open. */
  readonly openCalls: Set<OpenCall>
  /** Why the connection is gone, if it is. */
  readonly end: () => string | undefined
  /** Called when a request shows that the connection is of no more use. */
  readonly lose: (reason: string) => void
}

/** The server understood and said no. */
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

/** Our own limits hold; the protocol layer's would not know when a person is being asked. */
const NO_LIMIT_MS = 2 ** 31 - 1
/** Servers may report progress as often as they like; nobody wants to be told so often. */
const PROGRESS_PAUSE_MS = 100
/** Characters: a line that people are shown while they wait. */
const LONGEST_PROGRESS = 1000

/** Throws Refused, or what `ToolRegistry.call` throws. */
export async function send<Result>(line: RequestContext, options: CallOptions, work: Work<Result>): Promise<Result> {
  const { clock, limits, openCalls } = line
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
  const asked: OpenCall = { options, hold: () => deadline.hold() }
  openCalls.add(asked)
  const telling = progressTo(options, deadline, clock)
  try {
    return await work({ signal: abort.signal, timeout: NO_LIMIT_MS, onprogress: telling.onprogress })
  } catch (error) {
    if (signal.aborted) return fail('TOOL_CANCELLED', { tool: name }, error)
    if (overdue !== undefined) return fail('TOOL_TIMEOUT', { tool: name, ms: overdue }, error)
    return failedWith(error, line, name)
  } finally {
    telling.end()
    openCalls.delete(asked)
    deadline.cancel()
    signal.removeEventListener('abort', cancel)
  }
}

interface Telling {
  readonly onprogress: NonNullable<RequestOptions['onprogress']>
  /** Tells what was kept back: the last word is never lost. */
  end(): void
}

function progressTo({ onProgress }: CallOptions, deadline: Deadline, clock: Clock): Telling {
  let told = -Infinity
  let kept: { readonly progress: ToolProgress; readonly timer: Timer } | undefined

  function end(): void {
    if (kept === undefined) return
    const { progress, timer } = kept
    timer.cancel()
    kept = undefined
    told = clock.monotonicNow()
    onProgress?.(progress)
  }

  function onprogress(given: Parameters<Telling['onprogress']>[0]): void {
    deadline.touch()
    const timer = kept?.timer ?? clock.setTimer(Math.max(0, told + PROGRESS_PAUSE_MS - clock.monotonicNow()), end)
    kept = { progress: readProgress(given), timer }
    if (clock.monotonicNow() - told >= PROGRESS_PAUSE_MS) end()
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
    ...(progress.message !== undefined && { message: progress.message.slice(0, LONGEST_PROGRESS) }),
  }
}

function failedWith(error: unknown, line: RequestContext, tool: string): never {
  if (error instanceof ProtocolError && error.code !== ANSWER_LOST) throw new Refused(error)
  const login = loginIn(error)
  if (login !== undefined) throw login
  const reason = line.redact(line.end() ?? reasonIn(error))
  if (isDead(error)) line.lose(reason)
  // The cause stays behind: it may quote what the server was sent.
  return didNotRun(error) ? fail('TOOL_NOT_RUN', { tool, reason }) : fail('TOOL_LOST', { tool, reason })
}

/** Said of failures that happen before a server can have read the whole request, or that it refused unread. */
function didNotRun(error: unknown): boolean {
  if (isDead(error) || rootOf(error) instanceof RenewalFailed) return true
  return error instanceof SdkHttpError && error.status >= 400 && error.status < 500
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

interface DeadlineOptions {
  readonly clock: Clock
  /** Without an answer or progress. */
  readonly quietMs: number
  /** Whatever progress there is. */
  readonly totalMs: number
  /** Called once, with the limit that was passed. */
  readonly onOver: (ms: number) => void
}

interface Deadline {
  /** A sign of life. */
  touch(): void
  /** Somebody is asked; the time until the returned function is called does not count. */
  hold(): () => void
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
    hold() {
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
