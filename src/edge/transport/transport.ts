/** A pipe to one client as the protocol sees it: lines in, lines out. */
import type { Line } from './lines.ts'

export interface Transport {
  /** Lines as they arrive; ends when the client has closed its side. */
  readonly lines: AsyncIterable<readonly Line[]>
  /** Whole lines, each ending in a newline; never waits. Dropped once the client is gone. */
  send(lines: string): void
  /** More is owed to the client than it should be. */
  isBackpressured(): boolean
  /** Resolves when there is room again; rejects when the client is gone. */
  drained(): Promise<void>
  /** Sends what is left, then closes. Idempotent. */
  close(): Promise<void>
  /** Ends it at once, with whatever its client has not read. Idempotent. */
  destroy(): void
}
