/** Calls to a client as a turn makes them: within a time, no longer than the turn, and told as tool calls. */
import { withTimeout } from '../../async/with-timeout.ts'
import { fail, isParleyError, ParleyError, reasonOf } from '../../errors/parley-error.ts'
import type { ClientPeer } from '../../ports/client.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ToolCallContent, ToolCallPatch } from '../../ports/content.ts'
import type { Signal } from '../../ports/signal.ts'
import type { PathAccessFilter } from '../../ports/bars.ts'
import type { AgentEvent } from '../domain/commands.ts'

/** An editor may ask its person before it writes a file or starts a command. Milliseconds. */
const CLIENT_LIMIT = 120_000

/** What it takes to call a client. */
export interface ClientRequestHost {
  readonly clock: Clock
  readonly roots: readonly string[]
  /** Of the turn. */
  readonly signal: Signal
  readonly lent: () => ClientPeer | undefined
  /** What rules keep from this work, as they are now. */
  bars(): Promise<PathAccessFilter>
  newToolCallId(): string
  report(toolCallId: string, patch: ToolCallPatch): Promise<void>
  /** Resolves when that is durable, or with false when the turn was over before. */
  store(toolCallId: string, patch: ToolCallPatch): Promise<boolean>
}

/** What it takes to ask a person. */
export interface AskingHost extends ClientRequestHost {
  newId(): string
  /** Stored, unless the turn is over: then false. */
  tell(event: AgentEvent): Promise<boolean>
}

export interface ClientRequest<Result> {
  readonly method: string
  readonly toolCallId: string
  readonly patch: ToolCallPatch & { readonly title: string }
  /** Only called once it is stored that the call begins. */
  effect(): Promise<{ readonly result: Result; readonly patch: ToolCallPatch }>
}

/** The whole call, told from its beginning to its end; throws what went wrong, once it is told. */
export async function runAsToolCall<Result>(work: ClientRequest<Result>, host: ClientRequestHost): Promise<Result> {
  const { method, toolCallId, patch } = work
  const begun = await host.store(toolCallId, { ...patch, status: 'in_progress' })
  if (!begun) return fail('CLIENT_CANCELLED', { method })
  try {
    // The disk may have taken its time: whoever cancelled meanwhile must not see it done.
    if (host.signal.aborted) return fail('CLIENT_CANCELLED', { method })
    const done = await work.effect()
    await host.report(toolCallId, done.patch)
    return done.result
  } catch (error) {
    await host.report(toolCallId, { status: 'failed', content: [textContent(sentenceOf(error))] })
    throw error
  }
}

/** Ends with the turn, with `signal`, and after a while: then it throws CLIENT_TIMEOUT. */
export function withClientTimeout<Result>(
  { method, signal, limit = CLIENT_LIMIT }: TimeoutBounds,
  host: Pick<ClientRequestHost, 'clock' | 'signal'>,
  ask: (signal: Signal) => Promise<Result>,
): Promise<Result> {
  const signals = signal === undefined ? [host.signal] : [host.signal, signal]
  const timedOut = (cause: unknown) => new ParleyError('CLIENT_TIMEOUT', { method, seconds: limit / 1_000 }, cause)
  return withTimeout(ask, { clock: host.clock, ms: limit, signals, timedOut })
}

export interface TimeoutBounds {
  readonly method: string
  /** Whoever asks may lose patience earlier. */
  readonly signal?: Signal | undefined
  /** Milliseconds. */
  readonly limit?: number | undefined
}

/** A day: people and commands take the time that they take. */
export const ONE_DAY_MS = 24 * 60 * 60 * 1_000

export function textContent(text: string): ToolCallContent {
  return { type: 'content', content: { type: 'text', text } }
}

export function sentenceOf(error: unknown): string {
  return isParleyError(error) ? error.message : reasonOf(error)
}
