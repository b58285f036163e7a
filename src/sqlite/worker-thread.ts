/**
 * Calls between the main thread and a worker thread that works with SQLite. Calls of one turn of the event loop travel in one message;
 * each is answered or refused, whatever happens to the thread.
 */
import { Worker, type WorkerOptions } from 'node:worker_threads'
import type { ErrorCode, ErrorDetails } from '../errors/catalogue.ts'
import { ParleyError, reasonOf } from '../errors/parley-error.ts'

/** One call as the thread receives it. A number of 0 means that no answer is expected. */
export type CallOf<Calls, Kind extends keyof Calls = keyof Calls> = Kind extends keyof Calls
  ? readonly [call: number, kind: Kind, ask: Calls[Kind] extends { readonly ask: infer Ask } ? Ask : never]
  : never

/** An error as it crosses threads. */
export interface Refusal {
  readonly code: ErrorCode
  readonly details: ErrorDetails<ErrorCode>
}

/** One answer as the main thread receives it. A number of 0 marks an event that no call asked for. */
export type Answer = readonly [call: number, answer: unknown, refusal?: Refusal]

export interface WorkerListener {
  /** Something that the thread says unasked; a refusal when it is an error. */
  event(value: unknown, refusal?: Refusal): void
  /** The thread is gone. Answers the error with which every open and later call fails. */
  ended(reason: string, cause?: unknown): ParleyError
}

interface OpenCall {
  resolve(answer: unknown): void
  reject(error: unknown): void
}

export class WorkerThread<Calls> {
  readonly #worker: Worker
  readonly #listener: WorkerListener
  readonly #open = new Map<number, OpenCall>()
  #outbox: unknown[] = []
  #lastCall = 0
  #failure: ParleyError | undefined
  /** Resolves when the thread is gone. */
  readonly exited: Promise<void>

  constructor(url: URL, options: WorkerOptions, listener: WorkerListener) {
    this.#listener = listener
    this.#worker = new Worker(url, { execArgv: [], ...options })
    this.#worker.on('message', (answers: readonly Answer[]) => this.#receive(answers))
    this.#worker.on('error', (error) => this.#fail(reasonOf(error), error))
    this.exited = new Promise((resolve) => {
      this.#worker.on('exit', (code) => {
        this.#fail(`its worker thread ended with code ${code}`)
        resolve()
      })
    })
  }

  call<Kind extends keyof Calls>(
    kind: Kind,
    ask: Calls[Kind] extends { readonly ask: infer Ask } ? Ask : never,
  ): Promise<Calls[Kind] extends { readonly answer: infer Answered } ? Answered : never> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure)
    this.#lastCall += 1
    const call = this.#lastCall
    this.#post([call, kind, ask])
    return new Promise((resolve, reject) => {
      this.#open.set(call, { resolve: (answer) => resolve(answer as never), reject })
    })
  }

  /** Sends the thread a message that needs no answer. */
  notify<Kind extends keyof Calls>(
    kind: Kind,
    ask: Calls[Kind] extends { readonly ask: infer Ask } ? Ask : never,
  ): void {
    this.#post([0, kind, ask])
  }

  #post(call: unknown): void {
    if (this.#outbox.length === 0) queueMicrotask(() => this.#send())
    this.#outbox.push(call)
  }

  #send(): void {
    const calls = this.#outbox
    this.#outbox = []
    if (this.#failure === undefined) this.#worker.postMessage(calls)
  }

  #receive(answers: readonly Answer[]): void {
    for (const [call, answer, refusal] of answers) {
      if (call === 0) this.#listener.event(answer, refusal)
      const open = this.#open.get(call)
      this.#open.delete(call)
      if (refusal === undefined) open?.resolve(answer ?? undefined)
      else open?.reject(new ParleyError(refusal.code, refusal.details))
    }
  }

  /** The first reason counts. */
  #fail(reason: string, cause?: unknown): void {
    if (this.#failure !== undefined) return
    this.#failure = this.#listener.ended(reason, cause)
    for (const open of this.#open.values()) open.reject(this.#failure)
    this.#open.clear()
  }
}
