/** The events that stop a command: Ctrl-C, a signal, or a reader that closes its output. */
import { stopSignals } from './stop-signals.ts'
import { TURN_CANCELLED, FAILED, OK, TRY_AGAIN, isReaderGone } from './exit-codes.ts'

export interface Stops {
  /** Aborts when the command must end; its reason is the exit code. */
  readonly signal: AbortSignal
  /** The action of the next Ctrl-C, instead of stopping; the one after it stops. */
  onInterrupt(once: (() => void) | undefined): void
  /** As Ctrl-C does; for keyboards that are read key by key. */
  interrupt(): void
  /** Signals do again what they do by themselves. */
  release(): void
}

export function watchStops(): Stops {
  const stop = new AbortController()
  let once: (() => void) | undefined
  const end = (code: number): void => {
    release()
    stop.abort(code)
  }
  const interrupt = (): void => {
    const first = once
    once = undefined
    if (first === undefined) end(TURN_CANCELLED)
    else first()
  }
  const terminate = (): void => end(TRY_AGAIN)
  const unread = (error: Error): void => end(isReaderGone(error) ? OK : FAILED)
  const listeners: Readonly<Partial<Record<NodeJS.Signals, () => void>>> = { SIGINT: interrupt }
  const heard = stopSignals().map((name) => [name, listeners[name] ?? terminate] as const)
  const release = (): void => {
    for (const [name, listener] of heard) process.off(name, listener)
    process.stdout.off('error', unread)
  }
  for (const [name, listener] of heard) process.on(name, listener)
  process.stdout.on('error', unread)
  return {
    signal: stop.signal,
    onInterrupt(first) {
      once = first
    },
    interrupt,
    release,
  }
}
