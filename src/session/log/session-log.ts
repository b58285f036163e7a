/**
 * The log of a session. While the session is live this is its only writer: decides commands in batches, appends one batch at a
 * time, then publishes it. Also how its entries are read back, and the state that they add up to.
 */
import { fail, isParleyError } from '../../errors/parley-error.ts'
import type { Clock, Timer } from '../../ports/clock.ts'
import type { FaultPoint } from '../../ports/fault.ts'
import type { Cursor, Journal, SessionId } from '../../ports/journal.ts'
import type { AbortSource, Signal } from '../../ports/values/signal.ts'
import { type Batch, type Effect, concernsTurn, decideBatch } from '../domain/decide.ts'
import type { Command } from '../domain/commands.ts'
import { type Entry, decodeEntry } from '../domain/entries.ts'
import { evolve } from '../domain/evolve.ts'
import { type Existing, type State, absent, decodeState, encodeState, isBusy, rowOf } from '../domain/state.ts'
import type { SessionPorts } from '../session-ports.ts'

/** Limits on what is pending; past either of them `post` waits. */
const MAX_PENDING_COMMANDS = 256
const MAX_PENDING_CHARS = 256 * 1024
/** Turns of the event loop for which a cancel waits for the end of its turn: one disk write serves both. */
const END_OF_CANCELLED = 8
/** Entries after which a snapshot is stored in the middle of a turn, so that opening the session stays cheap. */
const SNAPSHOT_EVERY_ENTRIES = 512
/**
 * Characters of a snapshot for each entry that it saves from being read again: a session with a small state stores one after
 * almost every turn, one whose agent offers 30 kB of commands and options after every tenth.
 */
const SNAPSHOT_CHARS_PER_ENTRY = 256

/** Errors after which nothing of this session can be stored any more: another writer came first, the file is damaged, or it lost entries. */
const ENDS_THE_LOG = ['JOURNAL_CONFLICT', 'JOURNAL_CORRUPT', 'JOURNAL_WENT_BACK'] as const

/** How long a command may wait for the next one. Longer than a model on this machine takes to begin, and too short to matter. */
const SOON_MS = 25

/** `soon`: the command may wait a moment for the next one, so that one disk write serves both. */
export type Urgency = 'now' | 'soon'

interface Pending {
  readonly command: Command
  readonly chars: number
  readonly urgency: Urgency
  readonly done?: (entries: readonly Entry[]) => void
  readonly refused?: (error: unknown) => void
}

export interface LogListener {
  /** Called after the entries were stored, before `dispatch` resolves. */
  published(entries: readonly Entry[]): void
  effect(effect: Effect): void
  /**
   * A batch could not be stored. The state is what the journal holds, unless the log is dirty: then this is called again
   * once it could be read.
   */
  failed(failure: LogFailure): void
}

export interface LogFailure {
  readonly error: unknown
  /** The state contains entries that were never published. */
  readonly isAhead: boolean
  /** The running turn has lost something by it. False when only commands of others were lost, such as a prompt or a rename. */
  readonly breaksTurn: boolean
  /** Nothing can be stored after it, however often it is tried. */
  readonly isFinal: boolean
}

/** What `post` returns for almost every word. */
const HAS_ROOM = Promise.resolve()

const NO_LISTENER: LogListener = { published: () => {}, effect: () => {}, failed: () => {} }

/**
 * The state and the commands of a live session. All its parts read and write through this object and ask it whether the
 * session is still open.
 */
export class SessionLog {
  readonly #ports: SessionPorts
  readonly #listener: LogListener
  readonly #closing: AbortSource
  #state: State
  #isClosing = false
  #snapshotAt: number
  /** Entries after which one is stored between two turns; after the first turn one is. */
  #snapshotEvery = 0
  #pending: Pending[] = []
  #chars = 0
  #writing: Promise<void> | undefined
  /** Runs while commands wait that may. */
  #soon: Timer | undefined
  #waitingForRoom: (() => void)[] = []
  #waitingForState: (() => void)[] = []
  #lost: { readonly error: unknown } | undefined
  /** An append failed, and the journal could not be read since. */
  #dirty: Omit<LogFailure, 'isAhead'> | undefined

  constructor(ports: SessionPorts, state: State, listener: LogListener = NO_LISTENER) {
    this.#ports = ports
    this.#listener = listener
    this.#closing = ports.clock.abortSource()
    this.#state = state
    this.#snapshotAt = state.seq
  }

  get state(): State {
    return this.#state
  }

  /** The state of a session that was created. Throws SESSION_NOT_FOUND for one that was not. */
  get existing(): Existing {
    const { state } = this
    return state.phase === 'absent' ? fail('SESSION_NOT_FOUND', { session: state.id }) : state
  }

  /** Aborted once the session is closed, shut down or lost to another writer. Work for it stops then. */
  get closed(): Signal {
    return this.#closing.signal
  }

  /** True when the journal may hold more than the state says. The next command reads the journal first. */
  get isDirty(): boolean {
    return this.#dirty !== undefined
  }

  /** Resolves with the command's own entries once they are stored and published; rejects when refused or not stored. */
  dispatch(command: Command, urgency: Urgency = 'now'): Promise<readonly Entry[]> {
    return new Promise((done, refused) => this.#add({ command, chars: 0, urgency, done, refused }))
  }

  /** Like `dispatch`, for a command from outside. Throws SESSION_CLOSED once the log is closed, and for a prompt while it closes. */
  async request(command: Command): Promise<readonly Entry[]> {
    const isTooLate = this.closed.aborted || (this.#isClosing && command.kind === 'prompt')
    return isTooLate ? fail('SESSION_CLOSED', { session: this.#state.id }) : this.dispatch(command)
  }

  /** Adds a command without waiting for the disk; resolves when there is room for another. `listener.failed` gets a failure. */
  post(command: Command, chars: number, urgency: Urgency = 'now'): Promise<void> {
    this.#add({ command, chars, urgency })
    return this.#hasRoom ? HAS_ROOM : this.#room()
  }

  get #hasRoom(): boolean {
    return this.#chars <= MAX_PENDING_CHARS && this.#pending.length <= MAX_PENDING_COMMANDS
  }

  async #room(): Promise<void> {
    while (!this.#hasRoom) await new Promise<void>((resolve) => this.#waitingForRoom.push(resolve))
  }

  /** Resolves when no command is pending. */
  async settled(): Promise<void> {
    while (this.#pending.length > 0 || this.#writing !== undefined) {
      this.#begin()
      await this.#writing
    }
  }

  /** Resolves once `holds` is true of the state, or the log is closed. */
  async until(holds: (state: State) => boolean): Promise<void> {
    while (!this.closed.aborted && !holds(this.#state)) {
      await new Promise<void>((resolve) => this.#waitingForState.push(resolve))
    }
  }

  /** Cancels the open turn, waits for its end, and stores that the session is closed. No prompt is accepted meanwhile. */
  async endSession(): Promise<void> {
    this.#isClosing = true
    try {
      await this.dispatch({ kind: 'close' })
      await this.until((state) => !isBusy(state))
      await this.dispatch({ kind: 'close' })
    } finally {
      this.#isClosing = false
    }
  }

  /** Commands that are pending are still stored; await `settled` for them. Idempotent. */
  close(): void {
    this.#closing.abort()
    this.#checkConditions()
  }

  /** What was stored is not there any more, as `error` says: the log ends as if an append had met it. */
  async lose(error: unknown): Promise<void> {
    await this.settled()
    if (this.#lost === undefined && !this.closed.aborted) await this.#notStored([], error)
  }

  #add(pending: Pending): void {
    if (this.#lost !== undefined) return pending.refused?.(this.#lost.error)
    this.#pending.push(pending)
    this.#chars += pending.chars
    if (pending.urgency === 'now' || !this.#hasRoom) this.#begin()
    else if (this.#writing === undefined) this.#beginSoon()
  }

  #beginSoon(): void {
    this.#soon ??= this.#ports.clock.setTimer(SOON_MS, () => this.#begin())
  }

  #begin(): void {
    this.#soon?.cancel()
    this.#soon = undefined
    this.#writing ??= this.#write()
  }

  async #write(): Promise<void> {
    // Commands of the same tick become one batch. The last chunk of a turn often comes together with its end.
    await (this.#pending.every(isFireAndForget) ? this.#ports.clock.nextTick() : undefined)
    do {
      for (let left = END_OF_CANCELLED; left > 0 && this.#cancelsTurn(); left -= 1) await this.#ports.clock.nextTick()
      const taken = this.#pending
      this.#keep([])
      try {
        if (this.#dirty !== undefined) await this.#reconcile(this.#dirty)
        const commands = taken.map(({ command }) => command)
        const batch = decideBatch(commands, this.#state, this.#ports.clock.now())
        await this.#store(batch)
        settle(taken, batch)
      } catch (error) {
        await this.#notStored(taken, error)
      }
    } while (this.#pending.some(({ urgency }) => urgency === 'now') || !this.#hasRoom)
    // Cleared synchronously after the last check, so that no command is queued to a loop that has stopped.
    this.#writing = undefined
    if (this.#pending.length > 0) this.#beginSoon()
  }

  /** A cancel of the running turn is pending, and the end of that turn is not. */
  #cancelsTurn(): boolean {
    const has = (kind: Command['kind']): boolean => this.#pending.some(({ command }) => command.kind === kind)
    return has('cancel') && !has('end') && isBusy(this.#state)
  }

  #keep(pending: Pending[]): void {
    this.#pending = pending
    this.#chars = pending.reduce((sum, { chars }) => sum + chars, 0)
    for (const resume of this.#waitingForRoom.splice(0)) resume()
  }

  /** Append, then make the copy the state, then publish: “seen is stored” is this order (docs/internals/guarantees.md, 1). */
  async #store(batch: Batch): Promise<void> {
    const { state, entries } = batch
    if (entries.length === 0 || state.phase === 'absent') return
    const { faults, journal } = this.#ports
    const decided = faults.at('session.batch.decided')
    if (decided !== undefined) await decided
    await journal.append({
      row: rowOf(state),
      entries: batch.stored,
      expected: this.#state.seq,
      ...this.#snapshotOf(state),
    })
    this.#state = state
    await this.#publish(batch)
  }

  /** Never throws: the batch is stored, so an error of a listener is reported and no command is refused for it. */
  async #publish({ entries, effects }: Batch): Promise<void> {
    const { faults, report } = this.#ports
    const attempt = (notify: () => void): void => {
      try {
        notify()
      } catch (error) {
        report(error)
      }
    }
    const reach = async (point: FaultPoint): Promise<void> => {
      try {
        // Without a fault it goes on at once.
        const reached = faults.at(point)
        if (reached !== undefined) await reached
      } catch (error) {
        report(error)
      }
    }
    await reach('session.batch.stored')
    attempt(() => this.#listener.published(entries))
    this.#checkConditions()
    for (const effect of effects) attempt(() => this.#listener.effect(effect))
    await reach('session.batch.published')
  }

  #snapshotOf(state: Existing) {
    const every = state.phase === 'idle' ? this.#snapshotEvery : SNAPSHOT_EVERY_ENTRIES
    if (state.seq - this.#snapshotAt < every) return {}
    const encoded = encodeState(state)
    this.#snapshotAt = state.seq
    this.#snapshotEvery = Math.min(SNAPSHOT_EVERY_ENTRIES, Math.floor(encoded.length / SNAPSHOT_CHARS_PER_ENTRY))
    return { snapshot: { seq: state.seq, state: encoded } }
  }

  async #notStored(taken: readonly Pending[], error: unknown): Promise<void> {
    const before = this.#dirty
    const published = this.#state.seq
    const isFinal = ENDS_THE_LOG.some((code) => isParleyError(error, code))
    if (isFinal) this.#lost = { error }
    const isLostByTurn = this.#lost !== undefined || taken.some(({ command }) => concernsTurn(command, this.#state))
    const breaksTurn = before?.breaksTurn === true || isLostByTurn
    const failure = { error: isFinal ? error : (before?.error ?? error), breaksTurn, isFinal }
    this.#dirty = failure
    // While the journal cannot be read, the state stays as it was and the log stays dirty.
    if (before === undefined) await this.#reload().catch(() => undefined)
    for (const pending of [...taken, ...this.#dropDependent(failure)]) pending.refused?.(error)
    if (isFinal || before?.breaksTurn !== breaksTurn) this.#failed(failure, published)
    if (!isParleyError(error)) this.#ports.report(error)
  }

  /**
   * Queued commands of a turn that has lost some are dropped too; they would follow a gap. Once nothing can be
   * stored any more, everything is dropped: two writers never append to one session.
   */
  #dropDependent({ breaksTurn }: Omit<LogFailure, 'isAhead'>): readonly Pending[] {
    const pending = this.#pending
    const isDropped = ({ command }: Pending): boolean => this.#lost !== undefined || (breaksTurn && 'turnId' in command)
    this.#keep(pending.filter((one) => !isDropped(one)))
    return pending.filter(isDropped)
  }

  /** Reads the journal again after a failed append, before anything is decided. Throws while it cannot be read. */
  async #reconcile(failure: Omit<LogFailure, 'isAhead'>): Promise<void> {
    const published = this.#state.seq
    await this.#reload()
    this.#failed(failure, published)
  }

  #failed(failure: Omit<LogFailure, 'isAhead'>, published: number): void {
    this.#listener.failed({ ...failure, isAhead: this.#state.seq > published })
    this.#checkConditions()
  }

  async #reload(): Promise<void> {
    this.#state = await loadState(this.#ports, this.#state.id)
    this.#snapshotAt = Math.min(this.#snapshotAt, this.#state.seq)
    this.#dirty = undefined
  }

  /** Each caller of `until` evaluates its condition again. */
  #checkConditions(): void {
    for (const resume of this.#waitingForState.splice(0)) resume()
  }
}

/** No caller awaits its entries, or one that may wait. */
function isFireAndForget({ done, urgency }: Pending): boolean {
  return done === undefined || urgency === 'soon'
}

function settle(taken: readonly Pending[], { outcomes }: Batch): void {
  for (const [index, pending] of taken.entries()) {
    const outcome = outcomes[index]
    if (outcome === undefined) continue
    if ('refused' in outcome) pending.refused?.(outcome.refused)
    else pending.done?.(outcome.entries)
  }
}

/** The pause between two attempts at an append or a read that the disk refused. */
export const RETRY_MS = 1_000
/** Ten seconds with the pauses between them; a client that waits longer should get the error. */
const READ_ATTEMPTS = 11

export const READ_PAGE = { entries: 2_000, chars: 4 * 1024 * 1024 } as const

/** The state after the entry `until`, or after the last one: a snapshot and the entries that follow it. `absent` when there is no such session. */
export async function loadState(
  { journal }: { readonly journal: Pick<Journal, 'head' | 'page'> },
  id: SessionId,
  until = Number.POSITIVE_INFINITY,
): Promise<State> {
  const head = await journal.head(id)
  if (head === undefined) return absent(id)
  const snapshot = head.snapshot !== undefined && head.snapshot.seq <= until ? head.snapshot : undefined
  let state: State = (snapshot && decodeState(snapshot.state)) ?? absent(id)
  for (;;) {
    const page = await journal.page(id, state.seq, READ_PAGE)
    if (page.length === 0 || state.seq >= until) return state
    for (const stored of page) if (stored.seq <= until) state = evolve(state, decodeEntry(stored))
  }
}

/** The entries after this cursor that are stored by now, page by page. */
export async function* entriesAfter(journal: Journal, session: SessionId, after: Cursor): AsyncGenerator<Entry> {
  let cursor = after
  for (;;) {
    const page = await journal.page(session, cursor, READ_PAGE)
    for (const stored of page) yield decodeEntry(stored)
    const last = page.at(-1)
    if (last === undefined) return
    cursor = last.seq
  }
}

/** Repeats a read that fails with JOURNAL_IO while `isWanted`. Throws the last error, and any other one at once. */
export async function retryRead<Result>(
  clock: Pick<Clock, 'sleep'>,
  read: () => Promise<Result>,
  isWanted: () => boolean = () => true,
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await read()
    } catch (error) {
      if (attempt === READ_ATTEMPTS || !isParleyError(error, 'JOURNAL_IO') || !isWanted()) throw error
    }
    await clock.sleep(RETRY_MS)
  }
}
