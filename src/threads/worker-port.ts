/** The worker's side of the calls of worker-thread.ts, and the form in which messages cross. */
import type { MessagePort } from 'node:worker_threads'
import type { ErrorCode, ErrorDetails } from '../errors/catalogue.ts'

/** `Calls` has for each kind of call what is asked and what is answered: `{ head: { ask: SessionId; answer: Head } }`. */
export type AskOf<Calls, Kind extends keyof Calls> = Calls[Kind] extends { readonly ask: infer Ask } ? Ask : never

export type AnswerTo<Calls, Kind extends keyof Calls> = Calls[Kind] extends { readonly answer: infer Answered }
  ? Answered
  : never

/** One call as the thread receives it. A number of 0 means that no answer is expected. */
export type CallOf<Calls, Kind extends keyof Calls = keyof Calls> = Kind extends keyof Calls
  ? readonly [call: number, kind: Kind, ask: AskOf<Calls, Kind>]
  : never

/** An error as it crosses threads. */
export interface CallRefusal {
  readonly code: ErrorCode
  readonly details: ErrorDetails<ErrorCode>
}

/** One answer as the main thread receives it. A number of 0 marks an event that no call asked for. */
export type CallAnswer = readonly [call: number, answer: unknown, refusal?: CallRefusal]

export type Handlers<Calls> = {
  readonly [Kind in keyof Calls]: (ask: AskOf<Calls, Kind>) => AnswerTo<Calls, Kind> | Promise<AnswerTo<Calls, Kind>>
}

export interface Answering {
  /** Makes a refusal of an error; without it, and for a message that needs no answer, an error ends the thread. */
  readonly refusalOf?: (error: unknown) => CallRefusal
  /** Called behind each answer. */
  readonly answered?: () => void
}

/** Answers each call as soon as its handler is done, so an answer may overtake an earlier one. */
export function answerCalls<Calls>(
  port: MessagePort,
  handlers: Handlers<Calls>,
  { refusalOf, answered }: Answering = {},
): void {
  async function answer(call: number, kind: keyof Calls, ask: unknown): Promise<CallAnswer> {
    try {
      return [call, await handlers[kind](ask as never)]
    } catch (error) {
      if (call === 0 || refusalOf === undefined) throw error
      return [call, null, refusalOf(error)]
    }
  }

  async function receive([call, kind, ask]: CallOf<Calls>): Promise<void> {
    const given = await answer(call, kind, ask)
    if (call === 0) return
    port.postMessage([given])
    answered?.()
  }

  port.on('message', (calls: readonly CallOf<Calls>[]) => {
    for (const call of calls) void receive(call)
  })
}

/** Says something that no call asked for. */
export function sendEvent(port: MessagePort, value: unknown, refusal?: CallRefusal): void {
  const event: CallAnswer = refusal === undefined ? [0, value] : [0, value, refusal]
  port.postMessage([event])
}
