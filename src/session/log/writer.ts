/** The one writer of a session: decides in batches, appends one at a time, and only then lets anyone know. */
import { isParleyError } from '../../errors/parley-error.ts'
import type { FaultPoint } from '../../ports/fault.ts'
import type { SessionId } from '../../ports/journal.ts'
import { type Batch, type Effect, decideBatch } from '../domain/batch.ts'
import type { Command } from '../domain/commands.ts'
import { type Entry, decodeEntry } from '../domain/entries.ts'
import { evolve } from '../domain/evolve.ts'
import { type Existing, type State, absent, decodeState, encodeState, rowOf } from '../domain/state.ts'
import type { SessionPorts } from '../session-ports.ts'

/** What may be pending before whoever emits has to wait. */
const PENDING_COMMANDS = 256
const PENDING_CHARS = 256 * 1024
/** Entries after which opening a session would have to read too much without a fresh snapshot. */
const SNAPSHOT_EVERY = 512

interface Pending {
  readonly command: Command
  readonly chars: number
  readonly done?: (entries: readonly Entry[]) => void
  readonly refused?: (error: unknown) => void
}

export interface WriterEvents {
  /** Called after the entries were stored, before anyone's command resolves. */
  published(entries: readonly Entry[]): void
  effect(effect: Effect): void
  /**
   * The batch could not be stored; the state is what the journal says, unless the writer is unsure: then this comes once
   * more when it is. `ahead`: the state holds what was never published.
   */
  failed(error: unknown, ahead: boolean): void
}

export class Writer {
  readonly #world: SessionPorts
  readonly #events: WriterEvents
  #state: State
  #snapshotAt: number
  #pending: Pending[] = []
  #chars = 0
  #writing: Promise<void> | undefined
  #waitingForRoom: (() => void)[] = []
  #lost: { readonly error: unknown } | undefined
  /** An append has failed with this, and what it left behind could not be read so far. */
  #unsure: { readonly error: unknown } | undefined

  constructor(world: SessionPorts, state: State, events: WriterEvents) {
    this.#world = world
    this.#state = state
    this.#snapshotAt = state.seq
    this.#events = events
  }

  get state(): State {
    return this.#state
  }

  /** Whether what is stored may be more than its state says. The next command reads it first. */
  get isDirty(): boolean {
    return this.#unsure !== undefined
  }

  /** Resolves with the command's own entries once they are stored and published; rejects when refused or not stored. */
  dispatch(command: Command): Promise<readonly Entry[]> {
    return new Promise((done, refused) => this.#add({ command, chars: 0, done, refused }))
  }

  /** Adds without waiting for the disk; resolves when there is room for more. A failure reaches `events.failed`. */
  async post(command: Command, chars: number): Promise<void> {
    this.#add({ command, chars })
    while (this.#chars > PENDING_CHARS || this.#pending.length > PENDING_COMMANDS) {
      await new Promise<void>((resolve) => this.#waitingForRoom.push(resolve))
    }
  }

  /** Resolves when nothing is pending any more. */
  async settled(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing
  }

  #add(pending: Pending): void {
    if (this.#lost !== undefined) return pending.refused?.(this.#lost.error)
    this.#pending.push(pending)
    this.#chars += pending.chars
    this.#writing ??= this.#write()
  }

  async #write(): Promise<void> {
    // What is asked in the same breath becomes one batch. Words often come with the end of their turn.
    await (this.#pending.every(isWords) ? this.#world.clock.nextTick() : undefined)
    while (this.#pending.length > 0) {
      const taken = this.#take()
      try {
        await this.#reconcile()
        const commands = taken.map(({ command }) => command)
        const batch = decideBatch(commands, this.#state, this.#world.clock.now())
        await this.#store(batch)
        settle(taken, batch)
      } catch (error) {
        await this.#notStored(taken, error)
      }
    }
    // In the same breath as the last look at the queue, so that nothing is added to a writer that has just stopped.
    this.#writing = undefined
  }

  #take(): readonly Pending[] {
    const taken = this.#pending
    this.#keep([])
    return taken
  }

  /** Only what a turn posts has a length; it is taken, or passed over, as a whole. */
  #keep(pending: Pending[]): void {
    this.#pending = pending
    this.#chars = 0
    const waiting = this.#waitingForRoom
    this.#waitingForRoom = []
    for (const resume of waiting) resume()
  }

  /** Append, then make the copy the state, then publish: promise 1 of DESIGN section 2 is this order. */
  async #store(batch: Batch): Promise<void> {
    const { state, entries } = batch
    if (entries.length === 0 || state.phase === 'absent') return
    const { faults, journal } = this.#world
    await faults.at('session.batch.decided')
    await journal.append({
      row: rowOf(state),
      entries: batch.stored,
      expected: this.#state.seq,
      ...this.#snapshotOf(state),
    })
    this.#state = state
    await this.#tell(batch)
  }

  /** Stored stays stored: what fails in telling of it is reported, and no command is refused for it. Never throws. */
  async #tell({ entries, effects }: Batch): Promise<void> {
    const { faults, report } = this.#world
    const attempt = (tell: () => void): void => {
      try {
        tell()
      } catch (error) {
        report(error)
      }
    }
    const reach = async (point: FaultPoint): Promise<void> => faults.at(point)
    await reach('session.batch.stored').catch(report)
    attempt(() => this.#events.published(entries))
    for (const effect of effects) attempt(() => this.#events.effect(effect))
    await reach('session.batch.published').catch(report)
  }

  #snapshotOf(state: Existing) {
    if (state.phase !== 'idle' && state.seq - this.#snapshotAt < SNAPSHOT_EVERY) return {}
    this.#snapshotAt = state.seq
    return { snapshot: { seq: state.seq, state: encodeState(state) } }
  }

  /**
   * What goes down with a batch that was not stored: what its turn said meanwhile, which would follow a hole;
   * and everything once another writer came first, because two never append to one session.
   */
  #dropDependent(error: unknown): readonly Pending[] {
    const pending = this.#pending
    if (isParleyError(error, 'JOURNAL_CONFLICT')) this.#lost = { error }
    const kept = this.#lost === undefined ? pending.filter(({ command }) => !('turnId' in command)) : []
    this.#keep(kept)
    return pending.filter((one) => !kept.includes(one))
  }

  async #notStored(taken: readonly Pending[], error: unknown): Promise<void> {
    const published = this.#state.seq
    const isNew = this.#unsure === undefined
    this.#unsure ??= { error }
    // A journal that cannot even be read keeps what was true, until it can.
    if (isNew) await this.#reload().catch(() => undefined)
    const lost = [...taken, ...this.#dropDependent(error)]
    for (const pending of lost) pending.refused?.(error)
    if (isNew) this.#events.failed(error, this.#state.seq > published)
    if (!isParleyError(error)) this.#world.report(error)
  }

  /** Nothing is decided on what may not be true. Throws while the journal cannot be read. */
  async #reconcile(): Promise<void> {
    if (this.#unsure === undefined) return
    const published = this.#state.seq
    const { error } = this.#unsure
    await this.#reload()
    this.#events.failed(error, this.#state.seq > published)
  }

  async #reload(): Promise<void> {
    this.#state = await loadState(this.#world, this.#state.id)
    this.#snapshotAt = Math.min(this.#snapshotAt, this.#state.seq)
    this.#unsure = undefined
  }
}

/** Nobody waits for it to be stored. */
function isWords({ done }: Pending): boolean {
  return done === undefined
}

function settle(taken: readonly Pending[], { outcomes }: Batch): void {
  for (const [index, pending] of taken.entries()) {
    const outcome = outcomes[index]
    if (outcome === undefined) continue
    if ('refused' in outcome) pending.refused?.(outcome.refused)
    else pending.done?.(outcome.entries)
  }
}

const PAGE = { entries: 2_000, chars: 4 * 1024 * 1024 }

/** The state that the journal tells, at `until` or now: a snapshot and what came after. `absent` when there is no such session. */
export async function loadState(
  { journal }: { readonly journal: Pick<SessionPorts['journal'], 'head' | 'page'> },
  id: SessionId,
  until = Number.POSITIVE_INFINITY,
): Promise<State> {
  const head = await journal.head(id)
  if (head === undefined) return absent(id)
  const snapshot = head.snapshot !== undefined && head.snapshot.seq <= until ? head.snapshot : undefined
  let state: State = (snapshot && decodeState(snapshot.state)) ?? absent(id)
  for (;;) {
    const page = await journal.page(id, state.seq, PAGE)
    if (page.length === 0 || state.seq >= until) return state
    for (const stored of page) if (stored.seq <= until) state = evolve(state, decodeEntry(stored))
  }
}
