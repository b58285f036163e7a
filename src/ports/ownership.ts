/**
 * Who may append to sessions and recover them. Alone, one process owns the whole state: it holds the lock of the state directory, and
 * passes `test/contracts/ownership.ts`. In a cluster a node owns its place among the nodes, and each session that it has claimed.
 */
import type { SessionId } from './journal.ts'
import type { Signal } from './values/signal.ts'

export interface Ownership {
  /**
   * Aborts when the state is not ours any more although it was not released: the lock is gone, or another process may own it. From then
   * on nothing can be stored here, and the process must end what it runs. `reason` is a sentence, if the adapter knows why.
   */
  readonly lost: Signal
  /** Finishes what is being stored, then lets another process own the state. Idempotent; `lost` does not abort. */
  release(): Promise<void>
}

/** Becomes the owner. Throws STATE_IN_USE with the pid of the present owner, which may be this process, and changes nothing then. */
export type AcquireOwnership = () => Promise<Ownership>

/** Whose each session is, where several nodes serve the same sessions. */
export interface SessionOwnership {
  /**
   * Resolved: no other node can append to the session, unless it claims it in turn. Call it before anything is decided about a stored
   * session. Does nothing for one that is not stored. Throws SESSION_ELSEWHERE while the node that owns it lives.
   */
  claim(id: SessionId): Promise<void>
  /** Whether this node takes over sessions of the directory that a dead node has left. */
  takes(cwd: string): boolean
  /** Calls `listener` when another node has died: turns of its sessions may be open. */
  whenOrphaned(listener: () => void): void
  /** Calls `listener` when the end of a session of this node, although it was acknowledged, is stored no more; `error` says so. */
  whenWentBack(listener: (id: SessionId, error: unknown) => Promise<void>): void
  /** Calls `listener` at once, and whenever it is certain for so many milliseconds from now that no other node has claimed what this one owns. */
  whenRenewed(listener: (ms: number) => void): void
}
