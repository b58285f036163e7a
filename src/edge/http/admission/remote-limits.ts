/** What remote clients may ask for, as the settings say. */

export interface RemoteLimits {
  /** Connections at once; a quarter of them with one credential. */
  readonly connections: number
  /** Requests of one credential; ten times as many at once. */
  readonly requestsPerSecond: number
  /** That one credential starts. */
  readonly sessionsPerMinute: number
}
