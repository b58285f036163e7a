/** Where an update stands in its conversation: its entry, the time, the turn, and who sent it. It travels in `_meta`. */
import type { PermissionOutcome } from '../../../../ports/values/content.ts'
import type { Entry } from '../../../../session/domain/entries.ts'
import type { SessionPage } from '../../../../session/handle.ts'

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

  /** `turn` is the one of the first entry; 0 before the first turn. */
  constructor(turn: number) {
    this.#turn = turn
  }

  next(entry: SessionPage['entries'][number]): PlaceMeta {
    if (entry.kind === 'turn_started') this.#turn += 1
    if (entry.kind === 'permission_requested') this.#asked.set(entry.requestId, entry.toolCallId)
    const { seq, at, first } = entry
    return {
      'parley/seq': seq,
      'parley/at': at,
      ...(this.#turn > 0 && { 'parley/turn': `t${this.#turn}` }),
      ...(first !== undefined && { 'parley/first': first }),
    }
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
