/** Faults as data: what a broken agent would have said instead. A filter between agent and driver says it. */
import type { Fields, Message } from '../../e2e/message.ts'
import { parsed } from '../../wire/raw-connection.ts'

/** Which of the agent's messages is spoilt: the first that fits, or each of them. */
export type Where =
  | { readonly result: string }
  | { readonly error: string }
  /** Any response, result or error. */
  | { readonly response: string }
  /** The moment when the client has said this: the agent says something then (`instead`). */
  | { readonly heard: string }
  /** A request or notification; `update` narrows `session/update` down to one kind. */
  | { readonly call: string; readonly update?: string }

export type Fault =
  /** `$session` and `$id` in the value stand for those of the message. */
  | { readonly set: string; readonly to: unknown }
  | { readonly drop: string }
  | { readonly twice: true }
  | { readonly before: Fields }
  | { readonly after: Fields }
  /** This line comes instead. */
  | { readonly raw: string }
  /** What the agent says in place of the whole message. */
  | { readonly instead: Fields }
  /** Comes only after the message that follows it. */
  | { readonly late: true }
  | { readonly never: true }
  /** The agent ends so many milliseconds later than it does. */
  | { readonly lingers: number }

export type Mutant = {
  readonly on: Where
  readonly each?: true
  /** The how-manieth, from 1. */ readonly nth?: number
} & Fault

type Json = Record<string, unknown>

/** What a fault has come to, over all connections of a case. */
export interface Tally {
  matches: number
  /** Whether the fault was put in at all. */
  fired: boolean
}

export class Mutation {
  readonly #mutant: Mutant | undefined
  readonly #tally: Tally
  readonly #asked = new Map<string, string>()
  /** The session that a request was about, or that was made last. */
  #session = ''
  #held: string | undefined

  constructor(mutant: Mutant | undefined, tally: Tally) {
    this.#mutant = mutant
    this.#tally = tally
  }

  /** Milliseconds by which the agent ends later. */
  get lingering(): number {
    const mutant = this.#mutant
    if (mutant === undefined || !('lingers' in mutant)) return 0
    this.#tally.fired = true
    return mutant.lingers
  }

  /** What the client sends passes as it is; the filter learns from it. What the agent says to it at once, if that is the fault. */
  sent(message: Message): readonly string[] {
    if (message.id !== undefined && message.method !== undefined)
      this.#asked.set(JSON.stringify(message.id), message.method)
    this.#learn(message.params)
    const mutant = this.#mutant
    const reacts = mutant !== undefined && 'heard' in mutant.on && message.method === mutant.on.heard
    if (!reacts || !('instead' in mutant)) return []
    this.#tally.fired = true
    return [this.#filled(mutant.instead, message)]
  }

  /** The lines that arrive in place of this one. */
  lines(line: string): readonly string[] {
    const mutant = this.#mutant
    if (mutant === undefined) return [line]
    const held = this.#held === undefined ? [] : [this.#held]
    this.#held = undefined
    return [...this.#spoilt(line, mutant), ...held]
  }

  #spoilt(line: string, mutant: Mutant): readonly string[] {
    const message = parsed(line)
    // What is no message cannot be spoilt.
    if (message === undefined) return [line]
    this.#learn(message.params)
    this.#learn(message.result)
    if (!this.#fits(message, mutant.on)) return [line]
    this.#tally.matches += 1
    if (mutant.each !== true && this.#tally.matches !== (mutant.nth ?? 1)) return [line]
    this.#tally.fired = !('lingers' in mutant)
    return this.#apply(line, message, mutant)
  }

  #apply(line: string, message: Message, fault: Fault): readonly string[] {
    if ('twice' in fault) return [line, line]
    if ('raw' in fault) return [fault.raw]
    if ('never' in fault) return []
    if ('lingers' in fault) return [line]
    if ('before' in fault) return [this.#filled(fault.before, message), line]
    if ('after' in fault) return [line, this.#filled(fault.after, message)]
    if ('instead' in fault) return [this.#filled(fault.instead, message)]
    if ('late' in fault) {
      this.#held = line
      return []
    }
    const copy = JSON.parse(line) as Json
    if ('drop' in fault) change(copy, fault.drop, undefined)
    else change(copy, fault.set, JSON.parse(this.#filled({ value: fault.to }, message))['value'])
    return [JSON.stringify(copy)]
  }

  #filled(value: Fields, { id }: Message): string {
    const whole = 'value' in value ? value : { jsonrpc: '2.0', ...value }
    return JSON.stringify(whole, (_key, part: unknown) => {
      if (part === '$session') return this.#session
      return part === '$id' ? id : part
    })
  }

  #learn(from: unknown): void {
    const sessionId = (from as Json | null | undefined)?.['sessionId']
    if (typeof sessionId === 'string') this.#session = sessionId
  }

  #fits(message: Message, where: Where): boolean {
    if ('heard' in where) return false
    if ('call' in where) {
      if (message.method !== where.call) return false
      return where.update === undefined || kindOf(message) === where.update
    }
    if (message.method !== undefined || message.id === undefined) return false
    const method = this.#asked.get(JSON.stringify(message.id))
    if ('response' in where) return method === where.response
    if ('result' in where) return method === where.result && message.result !== undefined
    return method === where.error && message.error !== undefined
  }
}

function kindOf({ params }: Message): unknown {
  return (params?.['update'] as Json | undefined)?.['sessionUpdate']
}

/** Sets or removes what stands at a path like `result.sessions.0.cwd`. */
function change(message: Json, path: string, value: unknown): void {
  const keys = path.split('.')
  const last = keys.pop() ?? ''
  let at: Json | undefined = message
  for (const key of keys) {
    if (typeof at[key] !== 'object' || at[key] === null) at[key] = {}
    at = at[key] as Json
  }
  if (value === undefined) delete at[last]
  else at[last] = value
}

/** The shapes that cases use most. */
export const onResult = (method: string, path: string, to: unknown): Mutant => ({
  on: { result: method },
  set: path === '' ? 'result' : `result.${path}`,
  to,
})

export const onUpdate = (update: string, path: string, to: unknown): Mutant => ({
  on: { call: 'session/update', update },
  each: true,
  set: `params.update.${path}`,
  to,
})
/** Only in the `nth` update of this kind. */
export const onNthUpdate = (nth: number, update: string, [path, to]: readonly [string, unknown]): Mutant => ({
  on: { call: 'session/update', update },
  nth,
  set: `params.update.${path}`,
  to,
})

export const withoutUpdate = (update: string): Mutant => ({
  on: { call: 'session/update', update },
  each: true,
  never: true,
})

/** An agent that refuses what it must take. */
export const refusing = (method: string, code = -32603): Mutant => ({
  on: { result: method },
  instead: { id: '$id', error: { code, message: 'Refused.' } },
})

/** An agent that takes what it must refuse. */
export const accepting = (method: string, result: Fields = {}): Mutant => ({
  on: { error: method },
  instead: { id: '$id', result },
})

/** A request to the client that comes in while the agent speaks. */
export const intruding = (method: string, params: Fields = {}): Mutant => ({
  on: { call: 'session/update', update: 'agent_message_chunk' },
  before: { id: 'intruder', method, params: { sessionId: '$session', ...params } },
})
/** Words that come after the response to this method. */
export const speakingAfter = (method: string): Mutant => ({
  on: { result: method },
  after: update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'late' } }),
})
/** An update of this session. */
export const update = (content: Fields): Fields => ({
  method: 'session/update',
  params: { sessionId: '$session', update: content },
})
