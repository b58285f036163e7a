/**
 * Who may append to the sessions of a state and recover them: one owner at a time. Today an adapter holds the lock of the state directory;
 * one for several machines holds a lease. Every adapter passes `test/contracts/ownership.ts`.
 */
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
