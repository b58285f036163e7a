/** What the worker was asked and has not done yet: reads apart from writes, each in the order of their arrival. */
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import { copyChars } from '../store/forks.ts'
import type { Call, ReadCall, WriteCall } from './messages.ts'

/** How many characters one group commit takes at once: more would keep reads and the others' answers waiting. */
const groupChars = 4 * 1024 * 1024
/** How many reads are answered between two group commits: neither kind waits for the whole queue of the other. */
const readsAtOnce = 8

export class RequestQueue {
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
    return this.#reads.splice(0, readsAtOnce)
  }

  /** What the next transaction holds: at least one write if there is any. */
  takeGroup(): readonly WriteCall[] {
    let chars = 0
    const end = this.#writes.findIndex((write) => {
      const full = chars > groupChars
      chars += weigh(write)
      return full
    })
    return this.#writes.splice(0, end === -1 ? this.#writes.length : end)
  }

  /** The call that asked to close, once everything before it is done. */
  get closeCall(): number | undefined {
    return this.#reads.length + this.#writes.length === 0 ? this.#closeCall : undefined
  }

  async arrival(): Promise<void> {
    if (this.#reads.length > 0 || this.#closeCall !== undefined) return
    await new Promise<void>((resolve) => {
      this.#arrived = resolve
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
  return kind === 'copy' ? copyChars : 0
}
