/** What the main thread begins, written where a watching thread can read it, for the log should the main thread never come back. */

export interface Activity {
  /** Call it just before foreign input is handled. It costs next to nothing; `what` is a few words without secrets. */
  began(what: string): void
}
