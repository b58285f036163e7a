/**
 * Calls to a worker thread. Calls of one turn of the event loop travel in one message; each is answered or refused, whatever
 * happens to the thread. The thread's side of it is worker-port.ts.
 */
import type { Worker, WorkerOptions } from 'node:worker_threads'
import { ParleyError, reasonOf } from '../errors/parley-error.ts'
import { startWorker } from './early-worker.ts'
import type { CallAnswer, AnswerTo, AskOf, CallRefusal } from './worker-port.ts'

export interface WorkerListener {
  /** Something that the thread says unasked; a refusal when it is an error. */
  event(value: unknown, refusal?: CallRefusal): void
  /**
   * The thread is gone, or going. Answers the error with which every open and later call fails. `cause`: what the thread threw, if it
   * ended by that.
   */
  ended(reason: string, cause?: unknown): Error
}

const NOW = Promise.resolve()

interface OpenCall {
  resolve(answer: unknown): void
  reject(error: unknown): void
}

export class WorkerThread<Calls> {
  readonly #worker: Worker
  readonly #listener: WorkerListener
  readonly #open = new Map<number, OpenCall>()
  #outbox: (readonly [call: number, kind: keyof Calls, ask: unknown])[] = []
  #lastCall = 0
  #failure: Error | undefined
  /** Resolves when the thread is gone. */
  readonly exited: Promise<void>

  constructor(url: URL, options: WorkerOptions, listener: WorkerListener) {
    this.#listener = listener
    this.#worker = startWorker(url, options)
    this.#worker.on('message', (answers: readonly CallAnswer[]) => this.#receive(answers))
    this.#worker.on('error', (error) => this.#fail(reasonOf(error), error))
    this.exited = new Promise((resolve) => {
      this.#worker.on('exit', (code) => {
        this.#fail(`its worker thread ended with code ${code}`)
        resolve()
      })
    })
  }

  call<Kind extends keyof Calls>(kind: Kind, ask: AskOf<Calls, Kind>): Promise<AnswerTo<Calls, Kind>> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure)
    this.#lastCall += 1
    const call = this.#lastCall
    this.#post(call, kind, ask)
    return new Promise((resolve, reject) => {
      this.#open.set(call, { resolve: (answer) => resolve(answer as never), reject })
    })
  }

  /** Sends the thread a message that needs no answer. */
  notify<Kind extends keyof Calls>(kind: Kind, ask: AskOf<Calls, Kind>): void {
    this.#post(0, kind, ask)
  }

  /** Ends the thread at once, in the middle of what it does; its calls are refused. */
  async terminate(): Promise<void> {
    await this.#worker.terminate()
  }

  /** Whether the thread keeps this process running. */
  keepsProcess(keeps: boolean): void {
    if (keeps) this.#worker.ref()
    else this.#worker.unref()
  }

  #post(call: number, kind: keyof Calls, ask: unknown): void {
    // `queueMicrotask` would make an asynchronous resource for each.
    if (this.#outbox.length === 0) void NOW.then(() => this.#send())
    this.#outbox.push([call, kind, ask])
  }

  #send(): void {
    const calls = this.#outbox
    this.#outbox = []
    if (this.#failure !== undefined) return
    try {
      this.#worker.postMessage(calls)
    } catch (error) {
      // One of them cannot be copied to another thread. None was sent.
      for (const [call] of calls) this.#take(call)?.reject(error)
    }
  }

  #receive(answers: readonly CallAnswer[]): void {
    for (const [call, answer, refusal] of answers) {
      if (call === 0) this.#listener.event(answer, refusal)
      const open = this.#take(call)
      if (refusal === undefined) open?.resolve(answer ?? undefined)
      else open?.reject(new ParleyError(refusal.code, refusal.details))
    }
  }

  #take(call: number): OpenCall | undefined {
    const open = this.#open.get(call)
    this.#open.delete(call)
    return open
  }

  /** The first reason counts. */
  #fail(reason: string, cause?: unknown): void {
    if (this.#failure !== undefined) return
    this.#failure = this.#listener.ended(reason, cause)
    for (const open of this.#open.values()) open.reject(this.#failure)
    this.#open.clear()
  }
}
