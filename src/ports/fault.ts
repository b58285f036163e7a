/** Named places where a test may cut the power, slow the disk, or make a step fail. A no-op in production. */

/** Each name says what has just happened or is just about to. `docs/internals/faults.md` lists them. */
export type FaultPoint =
  | 'session.batch.decided'
  | 'journal.append.sent'
  | 'journal.rows.written'
  | 'journal.transaction.committed'
  | 'journal.fork.copied'
  | 'journal.import.filled'
  | 'session.batch.stored'
  | 'session.batch.published'
  | 'turn.started'
  | 'tool.started'
  | 'tool.finished'
  | 'permission.asked'
  | 'permission.answered'
  | 'call.paused'
  | 'call.continued'
  | 'turn.ended'
  | 'recovery.started'
  | 'recovery.finished'

export interface Faults {
  /** Called when `point` is reached. May end the process, delay, or throw; in production it returns at once. */
  at(point: FaultPoint): void | Promise<void>
}

/**
 * The fault to cause the `nth` time (from 1) that `point` is reached. Plain data, so that it can be posted to another
 * thread.
 */
export interface FaultSpec {
  readonly point: FaultPoint
  readonly action: 'kill' | 'throw' | 'delay' | 'hang'
  readonly nth: number
  /** How long a delay takes. A hang keeps its whole thread busy: for so long, or as long as `during` is there, or for ever. */
  readonly ms?: number
  /** A file: it is reached only while that is there, so that it can be ordered of a process that runs. */
  readonly during?: string
}

export type FaultsSpec = readonly FaultSpec[]
