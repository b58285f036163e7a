/** The part of the platform's AbortSignal that the core uses for cancellation. */

/** A request to cancel, passed down to callees. Every AbortSignal is one. */
export interface Signal {
  readonly aborted: boolean
  readonly reason: unknown
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once?: boolean }): void
  removeEventListener(type: 'abort', listener: () => void): void
}

/** Only the owner of the source can stop the work; all others only see the signal. */
export interface AbortSource {
  readonly signal: Signal
  /** Idempotent: the first reason stands. */
  abort(reason?: unknown): void
}
