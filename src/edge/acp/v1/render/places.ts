/** Where updates stand in their conversation, and how permission requests ended there: for the clients that want to know. */
import type { PermissionOutcome } from '../../../../ports/values/content.ts'
import type { Entry } from '../../../../session/domain/entries.ts'
import type { OpenQuestion } from '../../../../session/domain/state.ts'
import type { SessionPage } from '../../../../session/handle.ts'

/** Where an update stands in its conversation: its entry, the time, the turn, and its sender. It travels in `_meta`. */
export interface PlaceMeta {
  readonly 'parley/seq': number
  /** When it was stored; milliseconds since 1970. */
  readonly 'parley/at': number
  readonly 'parley/turn'?: string
  /** The sender of a message of a user. */
  readonly 'parley/by'?: string
  /** Of several entries in one update, the first; the others name the last. */
  readonly 'parley/first'?: { readonly seq: number; readonly at: number }
}

/** How a permission request ended, as `_parley/resolved` and pages have it. */
export interface ResolvedPermission {
  readonly requestId: string
  readonly toolCallId?: string
  readonly outcome: PermissionOutcome
  readonly by?: string
  readonly at: number
  readonly seq: number
}

/** The places of entries that follow each other. Turns are numbered, so an entry belongs to the turn that began last. */
export class PlacedEntries {
  #turn: number
  /** The call that each permission request was about. */
  readonly #asked = new Map<string, string>()

  /** `turn` is the one of the first entry; 0 before the first turn. `questions` are open there. */
  constructor(turn: number, questions: readonly Pick<OpenQuestion, 'requestId' | 'toolCallId'>[] = []) {
    this.#turn = turn
    for (const { requestId, toolCallId } of questions) this.#asked.set(requestId, toolCallId)
  }

  /** The turn of the next entry. */
  get turn(): number {
    return this.#turn
  }

  next(entry: SessionPage['entries'][number]): PlaceMeta {
    this.pass(entry)
    const { seq, at, first } = entry
    const by = entry.kind === 'message_chunk' && entry.role === 'user' ? entry.by : undefined
    return {
      'parley/seq': seq,
      'parley/at': at,
      ...(this.#turn > 0 && { 'parley/turn': `t${this.#turn}` }),
      ...(by !== undefined && { 'parley/by': by }),
      ...(first !== undefined && { 'parley/first': first }),
    }
  }

  /** The same for an entry of which the place is not needed. */
  pass(entry: Entry): void {
    if (entry.kind === 'turn_started') this.#turn += 1
    if (entry.kind === 'permission_requested') this.#asked.set(entry.requestId, entry.toolCallId)
  }

  /** Undefined for an entry that ends no permission request. Ask for it once the entries up to it were placed. */
  resolved(entry: Entry): ResolvedPermission | undefined {
    if (entry.kind !== 'permission_resolved') return undefined
    const { requestId, outcome, by, at, seq } = entry
    const toolCallId = this.#asked.get(requestId)
    return {
      requestId,
      ...(toolCallId !== undefined && { toolCallId }),
      outcome,
      ...(by !== undefined && { by }),
      at,
      seq,
    }
  }
}
