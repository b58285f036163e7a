/**
 * The journal's worker thread: it alone loads SQLite, holds the owner's lock and touches the disk. Its loop answers some reads, commits
 * one group of writes, and begins again; when there is nothing to do it empties the WAL once and sleeps.
 */
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { type CallAnswer, sendEvent } from '../../../../threads/worker-port.ts'
import { systemClock } from '../../../clock.ts'
import { faultsFrom } from '../../../fault.ts'
import { StallWatch } from '../../../watchdog/stall-watch.ts'
import { journalRefusal } from '../file/journal-error.ts'
import { COPY_CHARS } from '../store/forks.ts'
import type { Call, ReadCall, WorkerOrder, WriteCall } from './messages.ts'
import { type WorkerStore, journalPath, openOwnerStore, openReaderStore } from './group-commit.ts'

/** The most that one group commit takes: more would keep reads and the answers of the others waiting. */
const GROUP_CHARS = 4 * 1024 * 1024
/** Without a call for so long, what was written is moved from the WAL into the journal's file. Milliseconds. */
const IDLE_MS = 10_000
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
    for (const call of queue.takeReads()) port.postMessage([store.read(call)] satisfies CallAnswer[])
    const group = queue.takeGroup()
    if (group.length > 0) {
      isTidy = false
      port.postMessage(await store.write(group))
    } else if (queue.closeCall !== undefined) return close(port, store, queue.closeCall)
    else if (!store.sweep() && !(await queue.arrives(isTidy ? undefined : idleMs))) isTidy = store.tidy()
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
  #closeCall: number | undefined
  #arrived: () => void = () => {}

  constructor(port: MessagePort) {
    this.#port = port
    port.on('message', (calls: readonly Call[]) => {
      this.#sort(calls)
      this.#arrived()
    })
  }

  /** Takes in what has arrived since, without waiting for the event loop. */
  collect(): void {
    for (let next = receiveMessageOnPort(this.#port); next !== undefined; next = receiveMessageOnPort(this.#port)) {
      this.#sort(next.message as readonly Call[])
    }
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
      const idle = ms === undefined ? undefined : systemClock.setTimer(ms, () => resolve(false))
      this.#arrived = () => {
        idle?.cancel()
        resolve(true)
      }
    })
  }

  #sort(calls: readonly Call[]): void {
    for (const call of calls) {
      switch (call[1]) {
        case 'append':
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
}

function weigh([, kind, ask]: WriteCall): number {
  if (kind === 'append' || kind === 'fill') return ask.rows.reduce((sum, { body }) => sum + body.length, 0)
  return kind === 'copy' ? COPY_CHARS : 0
}

// At the end of the file, where the class above is defined.
if (parentPort !== null) await run(parentPort, workerData as WorkerOrder)
