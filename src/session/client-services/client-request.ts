/** Requests of a turn to a client: each has a timeout, ends with the turn, and is reported as a tool call. */
import { withTimeout } from '../../async/with-timeout.ts'
import { fail, isParleyError, ParleyError, reasonOf } from '../../errors/parley-error.ts'
import type { ClientPeer } from '../../ports/client-peer.ts'
import type { ToolCallContent, ToolCallPatch } from '../../ports/values/content.ts'
import type { Signal } from '../../ports/values/signal.ts'
import type { PathAccessFilter } from '../../ports/values/path-access.ts'
import type { AgentEvent } from '../domain/commands.ts'
import type { SessionPorts } from '../session-ports.ts'

/** An editor may ask its user before it writes a file or starts a command. */
const CLIENT_TIMEOUT_MS = 120_000

/** A running turn, or one tool call of it, that uses the files, terminals and user of a client. */
export interface ClientUser {
  readonly ports: Pick<SessionPorts, 'clock'>
  readonly roots: readonly string[]
  /** Aborts when the turn is cancelled. */
  readonly signal: Signal
  /** The client of the prompt; undefined once it has left. */
  readonly peer: ClientPeer | undefined
  /** Which files rules keep from this work, as the rules are now. */
  pathAccess(): Promise<PathAccessFilter>
  newToolCallId(): string
  report(toolCallId: string, patch: ToolCallPatch): Promise<void>
  /** Resolves when it is stored, or with false if the turn was over before: then nothing may be done. */
  store(event: AgentEvent): Promise<boolean>
}

export interface ClientRequest<Result> {
  readonly method: string
  readonly toolCallId: string
  readonly patch: ToolCallPatch & { readonly title: string }
  /** Called once it is stored that the call begins. */
  effect(): Promise<{ readonly result: Result; readonly patch: ToolCallPatch }>
}

/** Reports the request as a tool call from its beginning to its end. An error is reported, then thrown. */
export async function runAsToolCall<Result>(work: ClientRequest<Result>, user: ClientUser): Promise<Result> {
  const { method, toolCallId, patch } = work
  const begun = await user.store({ kind: 'call', toolCallId, patch: { ...patch, status: 'in_progress' } })
  if (!begun) return fail('CLIENT_CANCELLED', { method })
  try {
    // Storing takes a while on a slow disk, and the user may have cancelled meanwhile.
    if (user.signal.aborted) return fail('CLIENT_CANCELLED', { method })
    const done = await work.effect()
    await user.report(toolCallId, done.patch)
    return done.result
  } catch (error) {
    await user.report(toolCallId, { status: 'failed', content: [textContent(sentenceOf(error))] })
    throw error
  }
}

/** Ends with the turn, with `signal`, and after `timeoutMs`: then it throws CLIENT_TIMEOUT. */
export function withClientTimeout<Result>(
  { method, signal, timeoutMs = CLIENT_TIMEOUT_MS }: TimeoutBounds,
  { ports, signal: ofTurn }: Pick<ClientUser, 'ports' | 'signal'>,
  ask: (signal: Signal) => Promise<Result>,
): Promise<Result> {
  const signals = signal === undefined ? [ofTurn] : [ofTurn, signal]
  const timedOut = (cause: unknown) => new ParleyError('CLIENT_TIMEOUT', { method, seconds: timeoutMs / 1_000 }, cause)
  return withTimeout(ask, { clock: ports.clock, ms: timeoutMs, signals, timedOut })
}

export interface TimeoutBounds {
  readonly method: string
  /** Ends the request earlier. */
  readonly signal?: Signal | undefined
  readonly timeoutMs?: number | undefined
}

/** For what takes as long as a user or a command takes. */
export const ONE_DAY_MS = 24 * 60 * 60 * 1_000

export function textContent(text: string): ToolCallContent {
  return { type: 'content', content: { type: 'text', text } }
}

export function sentenceOf(error: unknown): string {
  return isParleyError(error) ? error.message : reasonOf(error)
}
