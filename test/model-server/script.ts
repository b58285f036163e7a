/** What a scripted model says, request by request: data that fits in a JSON file, or a function of the request. */

/** What is said to one request, in order. */
export interface Step {
  /** Takes this step only for a request whose body contains this text; such steps come before those without. */
  readonly when?: string
  /** It may be taken again and again. */
  readonly always?: true
  readonly say: readonly Saying[]
}

/** A step may also be only what is said. */
export type Script = readonly (Step | readonly Saying[])[] | ((asked: Asked) => readonly Saying[])

export type Saying =
  /** `times` repeats each piece; `{n}` in it is the running number, `{at}` the milliseconds since 1970. */
  | { readonly text: string | readonly string[]; readonly times?: number; readonly everyMs?: number }
  | { readonly reasoning: string | readonly string[]; readonly everyMs?: number }
  /** Calls that follow each other are parallel. `raw` is written instead of JSON; `id` overrides the server's own. */
  | { readonly call: string; readonly args?: unknown; readonly raw?: string; readonly id?: string }
  /** `input` holds what was read from and written to a cache. */
  | { readonly usage: ScriptedUsage }
  | { readonly stop: ScriptedStop }
  /** A wait before what follows. Nothing was sent before the first saying: a wait there delays the headers too. */
  | { readonly sleepMs: number }
  /** Nothing more, and the connection stays open. */
  | { readonly silence: true }
  /** The socket is destroyed. */
  | { readonly cut: true }
  /** The answer ends here as if it were whole, without a stop reason. */
  | { readonly over: true }
  /** Sent as it is, between the events. */
  | { readonly raw: string }
  /** Said by HTTP when nothing was sent before, as an event of the stream otherwise. */
  | { readonly fail: Failure; readonly retryAfter?: string; readonly words?: string }
  /** A recorded stream as the whole answer, sent in pieces of so many bytes, whatever they cut through. */
  | { readonly replay: string; readonly everyBytes: number }
  /** The whole answer, as from a proxy. */
  | { readonly status: number; readonly body: string; readonly headers?: Readonly<Record<string, string>> }

export interface ScriptedUsage {
  readonly input: number
  readonly output: number
  readonly cacheRead?: number
  readonly cacheWrite?: number
}

export type ScriptedStop = 'stop' | 'calls' | 'length' | 'refusal'

export type Failure =
  | 'key'
  | 'forbidden'
  | 'unknown-model'
  | 'rate-limit'
  | 'quota'
  | 'overloaded'
  | 'server'
  | 'context'
  | 'invalid'

export type Format = 'openai' | 'anthropic' | 'google' | 'responses'

/** A request, whatever its format. */
export interface Asked {
  readonly format: Format
  readonly model: string
  /** Counts from 0. */
  readonly index: number
  readonly system: string
  readonly messages: readonly AskedMessage[]
  /** Their names, in order. */
  readonly tools: readonly string[]
  readonly body: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, string | undefined>>
}

export interface AskedMessage {
  readonly role: 'user' | 'assistant' | 'tool'
  readonly text: string
  readonly calls: readonly { readonly id: string; readonly name: string; readonly args: unknown }[]
  readonly results: readonly { readonly id: string; readonly text: string }[]
  /** Mime types. */
  readonly pictures: readonly string[]
}

export function stepOf(step: Step | readonly Saying[]): Step {
  return 'say' in step ? step : { say: step }
}
