/**
 * Calls to a worker thread that block the caller until the answer is there: for threads that read synchronously what only
 * comes asynchronously. Never for the main thread.
 */
import { MessageChannel, type MessagePort, Worker, type WorkerOptions, receiveMessageOnPort } from 'node:worker_threads'
import { ParleyError } from '../errors/parley-error.ts'
import {
  type AnswerTo,
  type AskOf,
  type CallAnswer,
  type CallRefusal,
  type Handlers,
  answerCalls,
} from './worker-port.ts'

/** What the thread finds in its `workerData`. */
export interface BlockingEnd {
  readonly port: MessagePort
  /** Counts answers. The caller sleeps until it changes. */
  readonly bell: Int32Array
}

export class BlockingWorker<Calls> {
  readonly #worker: Worker
  readonly #port: MessagePort
  readonly #bell = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  readonly #timeoutMs: number
  #lastCall = 0

  /** `workerData.end` is the thread's `BlockingEnd`. The thread does not keep its process running. */
  constructor(url: URL, workerData: object, { timeoutMs, ...options }: WorkerOptions & { readonly timeoutMs: number }) {
    const { port1, port2 } = new MessageChannel()
    this.#port = port1
    this.#timeoutMs = timeoutMs
    const end: BlockingEnd = { port: port2, bell: this.#bell }
    this.#worker = new Worker(url, {
      execArgv: [],
      ...options,
      workerData: { ...workerData, end },
      transferList: [port2],
    })
    // It says so by its silence.
    this.#worker.on('error', () => undefined)
    this.#worker.unref()
    this.#port.unref()
  }

  /** Throws what the thread refuses with; undefined, for which no call is answered, when it does not answer in time. */
  call<Kind extends keyof Calls>(
    kind: Kind,
    ask: AskOf<Calls, Kind>,
  ): { readonly answer: AnswerTo<Calls, Kind> } | undefined {
    this.#lastCall += 1
    let seen = Atomics.load(this.#bell, 0)
    this.#port.postMessage([[this.#lastCall, kind, ask]])
    for (;;) {
      const isSilent = Atomics.wait(this.#bell, 0, seen, this.#timeoutMs) === 'timed-out'
      seen = Atomics.load(this.#bell, 0)
      for (let next = this.#next(); next !== undefined; next = this.#next()) {
        const [call, answer, refusal] = next
        // An answer to a call before, which was given up.
        if (call !== this.#lastCall) continue
        if (refusal !== undefined) throw new ParleyError(refusal.code, refusal.details)
        return { answer: (answer ?? undefined) as AnswerTo<Calls, Kind> }
      }
      if (isSilent) return undefined
    }
  }

  /** Ends the thread at once. */
  close(): void {
    this.#port.close()
    void this.#worker.terminate()
  }

  #next(): CallAnswer | undefined {
    const answers: readonly CallAnswer[] | undefined = receiveMessageOnPort(this.#port)?.message
    return answers?.[0]
  }
}

/** The thread's side. */
export function answerBlocking<Calls>(
  { port, bell }: BlockingEnd,
  handlers: Handlers<Calls>,
  refusalOf: (error: unknown) => CallRefusal,
): void {
  function answered(): void {
    Atomics.add(bell, 0, 1)
    Atomics.notify(bell, 0)
  }

  answerCalls<Calls>(port, handlers, { refusalOf, answered })
}
