/** The line to the worker thread: calls go out many to a message, and each is answered or refused, whatever happens to the worker. */
import { Worker } from 'node:worker_threads'
import { isParleyError, ParleyError, reasonOf } from '../../../../errors/parley-error.ts'
import { type Answer, type Call, type CallKind, type Calls, opening, type WorkerOrder } from './messages.ts'

export interface WorkerClientOptions {
  readonly workerUrl: URL
  readonly order: WorkerOrder
  /** The journal's file, for errors. */
  readonly path: string
  /** Called when the worker is gone and no call can succeed any more; with why, if it said so. */
  readonly onBroken: (why?: string) => void
}

interface Waiting {
  resolve(answer: unknown): void
  reject(error: unknown): void
}

export class WorkerClient {
  readonly #worker: Worker
  readonly #options: WorkerClientOptions
  readonly #waiting = new Map<number, Waiting>()
  readonly #exited: Promise<void>
  #outbox: Call[] = []
  #calls = opening
  #broken: ParleyError | undefined

  /** Resolves when the worker has opened the journal, or rejects with why it could not and after it has ended. */
  static async open(options: WorkerClientOptions): Promise<WorkerClient> {
    const line = new WorkerClient(options)
    try {
      await new Promise((resolve, reject) => line.#waiting.set(opening, { resolve, reject }))
      return line
    } catch (error) {
      await line.#exited
      throw error
    }
  }

  private constructor(options: WorkerClientOptions) {
    this.#options = options
    this.#worker = new Worker(options.workerUrl, { workerData: options.order, name: 'parley journal', execArgv: [] })
    this.#worker.on('message', (answers: readonly Answer[]) => this.#receive(answers))
    this.#worker.on('error', (error) => this.#break(reasonOf(error), error))
    this.#exited = new Promise((resolve) => {
      this.#worker.on('exit', (code) => {
        this.#break(`its worker thread ended with code ${code}`)
        resolve()
      })
    })
  }

  /** Calls of one turn of the event loop travel together. */
  call<Kind extends CallKind>(kind: Kind, ask: Calls[Kind]['ask']): Promise<Calls[Kind]['answer']> {
    if (this.#broken !== undefined) return Promise.reject(this.#broken)
    this.#calls += 1
    const call = this.#calls
    if (this.#outbox.length === 0) queueMicrotask(() => this.#send())
    this.#outbox.push([call, kind, ask] as unknown as Call)
    return new Promise((resolve, reject) => {
      this.#waiting.set(call, { resolve, reject })
    })
  }

  /** Finishes what was called before; resolves when the thread is gone. */
  async close(): Promise<void> {
    try {
      await this.call('close', undefined)
    } catch (error) {
      // A worker that is gone has nothing left to release.
      if (!isParleyError(error, 'JOURNAL_IO')) throw error
    }
    await this.#exited
  }

  #send(): void {
    const calls = this.#outbox
    this.#outbox = []
    if (this.#broken === undefined) this.#worker.postMessage(calls)
  }

  #receive(answers: readonly Answer[]): void {
    for (const [call, answer, refusal] of answers) {
      const waiting = this.#waiting.get(call)
      this.#waiting.delete(call)
      if (refusal === undefined) waiting?.resolve(answer ?? undefined)
      else waiting?.reject(new ParleyError(refusal.code, refusal.details))
    }
  }

  /** The first reason stands. */
  #break(reason: string, cause?: unknown): void {
    if (this.#broken !== undefined) return
    this.#broken = new ParleyError('JOURNAL_IO', { path: this.#options.path, reason }, cause)
    for (const waiting of this.#waiting.values()) waiting.reject(this.#broken)
    this.#waiting.clear()
    this.#options.onBroken(cause === undefined ? undefined : reason)
  }
}
