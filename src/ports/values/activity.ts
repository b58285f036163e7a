/**
 * Tasks that the main thread begins, written where the watchdog thread can read them. It logs them if the main thread
 * never returns.
 */

export interface Activity {
  /** Call it just before foreign input is handled. It costs next to nothing; `what` is a few words without secrets. */
  began(what: string): void
}
