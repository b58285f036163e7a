/**
 * The journal's worker thread: it alone loads SQLite, holds the owner's lock and touches the disk. Its loop answers some reads, commits
 * one group of writes, and begins again; when there is nothing to do it empties the WAL once and sleeps.
 */
import { appendFileSync, lstatSync, statSync, statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { type MessagePort, parentPort, receiveMessageOnPort } from 'node:worker_threads'
import { isParleyError } from '../../../../errors/parley-error.ts'
import type { Faults } from '../../../../ports/fault.ts'
import type { Database } from '../../../../sqlite/database.ts'
import { rollBack } from '../../../../sqlite/statements.ts'
import { makeDirectory } from '../../../../state-files/make-directory.ts'
import { whenOrdered } from '../../../../threads/early-worker.ts'
import { type CallAnswer, sendEvent } from '../../../../threads/worker-port.ts'
import { systemClock } from '../../../clock.ts'
import { faultsFrom } from '../../../fault.ts'
import { StallWatch } from '../../../watchdog/stall-watch.ts'
import { closeOwner, openForOwner, openForReader, truncateWal } from '../file/file.ts'
import { journalError, journalRefusal, mayBeOneWrites } from '../file/journal-error.ts'
import { journalPath } from '../file/journal-exists.ts'
import { lockPathIn, takeLock } from '../lock/lock.ts'
import { COPY_CHARS } from '../store/forks.ts'
import { Store } from '../store/store.ts'
import type { WorkerCall, JournalCalls, ReadCall, WorkerOrder, WriteCall } from './messages.ts'

/** The most that one group commit takes: more would keep reads and the answers of the others waiting. */
const GROUP_CHARS = 4 * 1024 * 1024
/** Without a call for so long, what was written is moved from the WAL into the journal's file. Milliseconds. */
const IDLE_MS = 10_000
/** How long appends are gathered while so many sessions speak in so short a time: each then waits longer, and costs much less. */
const GATHER_MS = 2
const SPEAKING = { sessions: 4, ms: 25 } as const
/** A session of fewer entries is being made, and its client waits for that. */
const NEW_SESSION_ENTRIES = 8
const SLEEPING = new Int32Array(new SharedArrayBuffer(4))
/** From this length on a WAL is made longer, and by at most so much: a commit must not wait long for that. Bytes. */
const WAL_AHEAD = { from: 256 * 1024, most: 512 * 1024 }
/** Where less is free, the WAL has none in reserve: on a disk that is full soon, some prompts more would be taken, and their turns cut. Bytes. */
const WAL_ROOM = 1024 ** 3
/** Reads answered between two group commits: neither kind waits for the whole queue of the other. */
const READS_PER_GROUP = 8

async function run(port: MessagePort, order: WorkerOrder): Promise<void> {
  const store = tryOpen(port, order)
  const watch = order.watch === undefined ? undefined : new StallWatch(order.watch, systemClock)
  if (store !== undefined) {
    watch?.start()
    await serve(port, store, order.idleMs ?? IDLE_MS)
  }
  watch?.stop()
  // The thread ends here, and with it the last descriptors close.
  port.close()
}

/** The first event says that the journal is open, or why it is not. */
function tryOpen(port: MessagePort, { directory, role, faults }: WorkerOrder): WorkerStore | undefined {
  try {
    const store =
      role === 'owner'
        ? openOwnerStore(directory, faultsFrom(faults))
        : openReaderStore(directory, { quiet: role === 'inspector' })
    sendEvent(port, null)
    return store
  } catch (error) {
    sendEvent(port, null, journalRefusal(error, journalPath(directory)))
    return undefined
  }
}

/** Resolves when the journal was asked to close and is closed. */
async function serve(port: MessagePort, store: WorkerStore, idleMs: number): Promise<void> {
  const queue = new RequestQueue(port)
  // Also what a former owner has left in the WAL.
  let isTidy = false
  for (;;) {
    queue.collect()
    if (queue.isShared) {
      // Nothing wakes this thread meanwhile, which is half of what is saved.
      Atomics.wait(SLEEPING, 0, 0, GATHER_MS)
      queue.collect()
    }
    for (const call of queue.takeReads()) port.postMessage([store.read(call)] satisfies CallAnswer[])
    const group = queue.takeGroup()
    if (group.length > 0) {
      isTidy = false
      port.postMessage(await store.write(group))
    } else if (queue.closeCall !== undefined) return close(port, store, queue.closeCall)
    else if (!store.reserve() && !store.sweep() && !(await queue.arrives(isTidy ? undefined : idleMs)))
      isTidy = store.tidy()
  }
}

function close(port: MessagePort, store: WorkerStore, call: number): void {
  store.close()
  port.postMessage([[call, null]] satisfies CallAnswer[])
}

/** Calls that are not done yet: reads apart from writes, each in the order of their arrival. */
class RequestQueue {
  readonly #port: MessagePort
  readonly #reads: ReadCall[] = []
  readonly #writes: WriteCall[] = []
  /** The sessions that have appended last and when, the one that was silent for longest first. */
  readonly #speaking = new Map<string, number>()
  #closeCall: number | undefined
  #arrived: (quiet: boolean) => void = () => {}
  #arrivedAt = systemClock.monotonicNow()
  #isTimed = false

  constructor(port: MessagePort) {
    this.#port = port
    port.on('message', (calls: readonly WorkerCall[]) => {
      this.#sort(calls)
      this.#arrived(false)
    })
  }

  /** Takes in what has arrived since, without waiting for the event loop. */
  collect(): void {
    for (let next = receiveMessageOnPort(this.#port); next !== undefined; next = receiveMessageOnPort(this.#port)) {
      this.#sort(next.message as readonly WorkerCall[])
    }
  }

  /** Several sessions append at a time, one after the other. */
  get isShared(): boolean {
    if (this.#writes.length === 0 || this.#speaking.size < SPEAKING.sessions) return false
    const [longest = 0] = this.#speaking.values()
    return systemClock.monotonicNow() - longest < SPEAKING.ms
  }

  takeReads(): readonly ReadCall[] {
    return this.#reads.splice(0, READS_PER_GROUP)
  }

  /** The writes of the next transaction: at least one if there is any. */
  takeGroup(): readonly WriteCall[] {
    let chars = 0
    const end = this.#writes.findIndex((write) => {
      const isFull = chars > GROUP_CHARS
      chars += weigh(write)
      return isFull
    })
    return this.#writes.splice(0, end === -1 ? this.#writes.length : end)
  }

  /** The call that asked to close, once everything before it is done. */
  get closeCall(): number | undefined {
    return this.#reads.length + this.#writes.length === 0 ? this.#closeCall : undefined
  }

  /** Resolves with true when there is a call, with false when none has come for `ms`. */
  arrives(ms: number | undefined): Promise<boolean> {
    if (this.#reads.length > 0 || this.#closeCall !== undefined) return Promise.resolve(true)
    return new Promise((resolve) => {
      this.#arrived = (quiet) => resolve(!quiet)
      if (ms !== undefined && !this.#isTimed) this.#time(ms)
    })
  }

  /** One timer serves many waits: when it ends, it goes on to the end of the silence since the last call. */
  #time(ms: number): void {
    this.#isTimed = true
    systemClock.setTimer(Math.max(1, this.#arrivedAt + ms - systemClock.monotonicNow()), () => {
      this.#isTimed = false
      const now = systemClock.monotonicNow()
      if (now - this.#arrivedAt < ms - 1) return this.#time(ms)
      // The next silence counts from here.
      this.#arrivedAt = now
      this.#arrived(true)
    })
  }

  #sort(calls: readonly WorkerCall[]): void {
    this.#arrivedAt = systemClock.monotonicNow()
    for (const call of calls) {
      switch (call[1]) {
        case 'append':
          if (call[2].expected >= NEW_SESSION_ENTRIES) this.#spoke(call[2].id)
          this.#writes.push(call)
          break
        case 'fork':
        case 'copy':
        case 'draft':
        case 'fill':
        case 'finish':
        case 'abandon':
        case 'delete':
          this.#writes.push(call)
          break
        case 'page':
        case 'find':
        case 'head':
        case 'list':
        case 'check':
          this.#reads.push(call)
          break
        case 'close':
          this.#closeCall = call[0]
      }
    }
  }

  #spoke(id: string): void {
    this.#speaking.delete(id)
    this.#speaking.set(id, systemClock.monotonicNow())
    const [longest] = this.#speaking.keys()
    if (this.#speaking.size > SPEAKING.sessions && longest !== undefined) this.#speaking.delete(longest)
  }
}

function weigh([, kind, ask]: WriteCall): number {
  if (kind === 'append' || kind === 'fill') return ask.rows.reduce((sum, { body }) => sum + body.length, 0)
  return kind === 'copy' ? COPY_CHARS : 0
}

/** The journal as the loop uses it: the owner's, or a reader's, which refuses writes. */
interface WorkerStore {
  read(call: ReadCall): CallAnswer
  write(group: readonly WriteCall[]): Promise<readonly CallAnswer[]>
  /** Makes the WAL longer than it needs to be, if it is full; false when it is not. */
  reserve(): boolean
  /** Removes some entries of deleted sessions; false when there are none. */
  sweep(): boolean
  /** Empties the WAL, which otherwise keeps the size that it once had; false when a reader is in the way. Never waits. */
  tidy(): boolean
  close(): void
}

interface OpenJournal {
  readonly db: Database
  readonly store: Store
  readonly faults: Faults
  readonly path: string
}

/** The lock is taken before the journal is even looked at, and released after it is closed. */
function openOwnerStore(directory: string, faults: Faults): WorkerStore {
  makeDirectory(directory)
  const path = journalPath(directory)
  const lock = takeLock(directory)
  try {
    const db = openForOwner(path)
    const journal: OpenJournal = { db, store: new Store(db, path), faults, path }
    const requireSameFiles = openFilesCheck(directory, [lockPathIn(directory), path])
    const wal = new WalSpace(`${path}-wal`)
    // The last owner may have left a reserve, when the disk had room for one.
    if (wal.mayHaveReserve && !wal.hasRoom()) truncateWal(db)
    let isSwept = false
    return {
      read: (call) => answer(call, path, () => journal.store),
      async write(group) {
        // Appends leave no orphans behind, and are too frequent to look for some after each.
        isSwept &&= group.every(([, kind]) => kind === 'append')
        const answers = await commitGroup(journal, group)
        // Before any write is answered as stored. An error here ends the thread, and with it the ownership.
        requireSameFiles()
        return answers
      },
      reserve: () => wal.reserve(),
      sweep() {
        if (isSwept) return false
        const found = sweep(journal)
        isSwept = found === false
        return found === true
      },
      tidy: () => truncateWal(db),
      close() {
        closeOwner(db)
        lock.release()
      },
    }
  } catch (error) {
    lock.release()
    throw journalError(error, path)
  }
}

/** There may be no journal yet, or it may appear later; until then it is empty. */
function openReaderStore(directory: string, { quiet }: { readonly quiet: boolean }): WorkerStore {
  const path = journalPath(directory)
  let db: Database | undefined
  let store: Store | undefined
  function open(): Store | undefined {
    db ??= openForReader(path, { quiet })
    if (db !== undefined) store ??= new Store(db, path)
    return store
  }
  open()
  return {
    read: (call) => answer(call, path, open),
    write: async (group) =>
      group.map(([call]) => [call, null, journalRefusal(new Error('it was opened to be read'), path)]),
    reserve: () => false,
    sweep: () => false,
    tidy: () => true,
    close: () => db?.close(),
  }
}

function answer(call: ReadCall, path: string, open: () => Store | undefined): CallAnswer {
  let store: Store | undefined
  try {
    store = open()
    return [call[0], read(call, store)]
  } catch (error) {
    store?.renew()
    return [call[0], null, journalRefusal(error, path)]
  }
}

function read([, kind, ask]: ReadCall, store: Store | undefined): JournalCalls[ReadCall[1]]['answer'] {
  switch (kind) {
    case 'page':
      return store?.page(ask) ?? { at: [], bodies: [] }
    case 'find':
      return store?.find(ask) ?? { seqs: [], at: [], bodies: [], until: undefined }
    case 'head':
      return store?.head(ask)
    case 'list':
      return store?.list(ask) ?? []
    case 'check':
      return store?.check() ?? []
  }
}

// In a group many writes share one transaction and one disk write, and each still succeeds or fails alone.

/** Answers every call of the group after its transaction is on the disk, or has changed nothing. */
async function commitGroup(journal: OpenJournal, group: readonly WriteCall[]): Promise<readonly CallAnswer[]> {
  try {
    return await commit(journal, group)
  } catch (error) {
    journal.store.renew()
    rollBack(journal.db)
    if (group.length > 1 && mayBeOneWrites(error)) return commitEachAlone(journal, group)
    const refusal = journalRefusal(error, journal.path)
    return group.map(([call]) => [call, null, refusal])
  }
}

/** One write may be too big for the disk, or meet a damaged page, where the others do not. */
async function commitEachAlone(journal: OpenJournal, group: readonly WriteCall[]): Promise<readonly CallAnswer[]> {
  const answers: CallAnswer[] = []
  for (const write of group) answers.push(...(await commitGroup(journal, [write])))
  return answers
}

async function commit(journal: OpenJournal, group: readonly WriteCall[]): Promise<readonly CallAnswer[]> {
  const { store, faults } = journal
  store.begin()
  const answers = group.map((call) => attempt(journal, call))
  const written = faults.at('journal.rows.written')
  if (written !== undefined) await written
  store.commit()
  const committed = faults.at('journal.transaction.committed')
  if (committed !== undefined) await committed
  return answers
}

/** A conflict is found before anything is written, so the others continue; any other error ends the transaction. */
function attempt({ store, path }: OpenJournal, write: WriteCall): CallAnswer {
  const [call] = write
  try {
    return [call, apply(store, write) ?? null]
  } catch (error) {
    if (isParleyError(error, 'JOURNAL_CONFLICT')) return [call, null, journalRefusal(error, path)]
    throw error
  }
}

function apply(store: Store, [, kind, ask]: WriteCall): unknown {
  switch (kind) {
    case 'append':
      return store.append(ask)
    case 'fork':
      return store.forks.begin(ask)
    case 'copy':
      return store.forks.copy(ask)
    case 'draft':
      return store.forks.draft()
    case 'fill':
      return store.forks.fill(ask)
    case 'finish':
      return store.forks.finish(ask)
    case 'abandon':
      return store.forks.abandon(ask)
    case 'delete':
      return store.deleteSession(ask)
  }
}

/** Undefined: it is not known whether there are any. */
function sweep({ db, store }: OpenJournal): boolean | undefined {
  try {
    return store.sweep()
  } catch {
    // No call waits for this. Orphans that remain are swept later, and the next append meets the failing disk.
    store.renew()
    rollBack(db)
    return undefined
  }
}

/**
 * Where a sync makes the WAL longer, it waits for the log of the file system too, and so for what other programs write: on a busy
 * machine 1.4 instead of 0.8 ms, one in ten 5 and more instead of 2. So the WAL is kept longer than its commits, while no call waits.
 */
class WalSpace {
  readonly #path: string
  /** Up to here it was made longer, or was found. */
  #end: number

  constructor(path: string) {
    this.#path = path
    this.#end = sizeOf(path)
  }

  /** SQLite takes zeros behind the last commit for the end of the WAL: a commit never has a frame of page 0. */
  reserve(): boolean {
    const size = sizeOf(this.#path)
    // The WAL was emptied.
    if (size === 0) this.#end = 0
    if (size <= this.#end || size < WAL_AHEAD.from) return false
    const more = Math.min(size, WAL_AHEAD.most)
    this.#end = size + more
    if (!this.hasRoom()) return false
    try {
      appendFileSync(this.#path, Buffer.alloc(more), { flush: true })
    } catch {
      // A disk that fails. The next commit notices.
    }
    return true
  }

  get mayHaveReserve(): boolean {
    return this.#end >= WAL_AHEAD.from
  }

  hasRoom(): boolean {
    try {
      const { bavail, bsize } = statfsSync(dirname(this.#path))
      return bavail * bsize >= WAL_ROOM
    } catch {
      return false
    }
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

/**
 * Returns a check that throws when one of the files that are open now was moved or removed since. Writing to such a file
 * still works, but no reader finds what is stored there, and a lock on it does not keep other processes out. While their
 * directory is the one that it was, and has not changed, they are not looked at one by one.
 */
function openFilesCheck(directory: string, paths: readonly string[]): () => void {
  const known = paths.map((path) => [path, identityOf(path)] as const)
  const mayStandElsewhere = paths.some((path) => lstatSync(path).isSymbolicLink())
  let seen: string | undefined
  return () => {
    const now = systemClock.now()
    const found = statSync(directory, { throwIfNoEntry: false })
    const version = found && `${found.dev} ${found.ino} ${found.mtimeMs} ${found.ctimeMs}`
    if (version !== undefined && version === seen && !mayStandElsewhere) return
    for (const [path, identity] of known)
      if (identityOf(path) !== identity) throw new Error(`${path} was moved or removed while it was in use`)
    // A change within the same tick of the file system's clock would not show.
    const isSettled = found !== undefined && now - Math.max(found.mtimeMs, found.ctimeMs) > SETTLED_MS
    seen = isSettled ? version : undefined
  }
}

/** How old a directory's time of change must be to differ from that of the next change. Milliseconds. */
const SETTLED_MS = 2_500

/** Empty where there is no such file. */
function identityOf(path: string): string {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false })
  return found === undefined ? '' : `${found.dev} ${found.ino}`
}

// At the end of the file, where the classes above are defined.
const port = parentPort
if (port !== null) whenOrdered(port, (order: WorkerOrder) => void run(port, order))
