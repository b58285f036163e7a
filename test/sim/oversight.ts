/** What a run broke, by the number of the promise in DESIGN section 2; and the ledger of facts that promises are held against. */
import type { SessionId } from '../../src/ports/journal.ts'
import type { Entry } from '../../src/session/domain/entries.ts'
import { type Message, updateIn } from '../e2e/message.ts'
import type { Storage } from './storage.ts'

/** 0 is what no promise speaks of: an error that nobody expects. */
export type PromiseNumber = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 8

export interface Finding {
  readonly promise: PromiseNumber
  readonly what: string
}

/** Findings of one run that are kept; more say nothing new. */
const MOST = 20

export class Oversight {
  readonly findings: Finding[] = []
  readonly storage: Storage
  /** Answers that clients gave and that are a yes, as `session call option`. */
  readonly #given = new Set<string>()
  readonly #effects = new Map<string, number>()
  readonly #parsed = new Map<string, Message>()

  constructor(storage: Storage) {
    this.storage = storage
  }

  found(promise: PromiseNumber, what: string): void {
    if (this.findings.length < MOST) this.findings.push({ promise, what })
  }

  /** Clients of one session are sent the same lines: each is parsed once. */
  parse(lines: string): readonly Message[] {
    return lines.split('\n').flatMap((line) => (line === '' ? [] : this.#parse(line)))
  }

  /** Called in the moment that the server writes. */
  sent(lines: string): void {
    for (const message of this.parse(lines)) {
      this.#checkStored(message)
      if (message.error?.data?.['code'] === 'INTERNAL_ERROR')
        this.found(0, `a client is told ${JSON.stringify(message)}`)
    }
  }

  answered(session: SessionId, toolCallId: string, optionId: string): void {
    this.#given.add(`${session} ${toolCallId} ${optionId}`)
  }

  wasAnswered(session: SessionId, toolCallId: string, optionId: string): boolean {
    return this.#given.has(`${session} ${toolCallId} ${optionId}`)
  }

  /** A tool has its effect now: that its call began is stored, somebody said yes, and it is the first time. */
  effect(label: string): void {
    const [session = ''] = label.split(' ')
    const count = (this.#effects.get(label) ?? 0) + 1
    this.#effects.set(label, count)
    if (count > 1) this.found(3, `${label} of ${session} ran ${count} times`)
    const entries = this.storage.entries(session)
    const call = entries.find((entry) => labelOf(entry) === label)
    const id = call !== undefined && 'toolCallId' in call ? call.toolCallId : ''
    const began = entries.some(
      (entry) => entry.kind === 'tool_call_patched' && entry.toolCallId === id && entry.patch.status === 'in_progress',
    )
    if (!began) this.found(3, `${label} of ${session} runs before it is stored that it does`)
    if (!this.#mayRun(session, id, entries)) this.found(5, `${label} of ${session} runs although nobody said yes`)
  }

  #mayRun(session: SessionId, id: string, entries: readonly Entry[]): boolean {
    const question = entries.find((entry) => entry.kind === 'permission_requested' && entry.toolCallId === id)
    if (question !== undefined)
      return this.wasAnswered(session, id, 'allow_once') || this.wasAnswered(session, id, 'allow_always')
    return entries.some(
      (entry) => entry.kind === 'permission_requested' && this.wasAnswered(session, entry.toolCallId, 'allow_always'),
    )
  }

  #checkStored(message: Message): void {
    const seen = updateIn(message)
    if (seen === undefined) return
    const stored = this.storage.entries(seen.sessionId).at(-1)?.seq ?? 0
    if (!(seen.seq <= stored))
      this.found(1, `seq ${seen.seq} of ${seen.sessionId} is told when ${stored} is the last that is stored`)
  }

  #parse(line: string): Message {
    const known = this.#parsed.get(line)
    if (known !== undefined) return known
    const message = JSON.parse(line) as Message
    this.#parsed.set(line, message)
    return message
  }
}

function labelOf(entry: Entry): string | undefined {
  if (entry.kind !== 'tool_call') return undefined
  return (entry.call.rawInput as { readonly label?: string } | undefined)?.label
}
