/** What one client was told of one session from one opening on, in the order in which it read it. */
import type { SeenUpdate } from '../e2e/message.ts'
import type { Asked } from './link.ts'

export type Told =
  | { readonly kind: 'update'; readonly seen: SeenUpdate; readonly replayed: boolean; readonly mayBeReplayed: boolean }
  /** The response of a prompt. */
  | { readonly kind: 'answer'; readonly request: Asked }

export class View {
  readonly sessionId: string
  /** The first entry that it must be told is the next one. */
  readonly from: number
  readonly told: Told[] = []
  /** The responses of the load has not come yet. */
  replaying: boolean
  /** Nothing more is owed to it: another view took its place. */
  isOver = false
  /** The client has closed or deleted the session by itself. */
  isLeft = false
  /** What a client goes on from. */
  cursor: number

  constructor(sessionId: string, from: number, replaying: boolean) {
    this.sessionId = sessionId
    this.from = from
    this.cursor = from
    this.replaying = replaying
  }

  /** While a load is awaited and nothing has come twice, nobody can say whether this is its first word. */
  see(seen: SeenUpdate, mayBeReplayed: boolean): void {
    this.told.push({ kind: 'update', seen, replayed: this.replaying, mayBeReplayed })
    this.cursor = Math.max(this.cursor, seen.seq)
  }
}

/** Told as they are by then, not as they came. */
export const STATE_ONLY: ReadonlySet<string> = new Set(['session_info_update', 'available_commands_update'])

export function isOfState({ update }: SeenUpdate): boolean {
  return STATE_ONLY.has(update.sessionUpdate)
}
