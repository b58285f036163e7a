/** What a run leaves behind for the checker: what clients were shown, what is stored, and what tools did. */
import type { Fields, SeenUpdate } from '../e2e/message.ts'

/** How the request of a prompt was answered. */
export interface Answer {
  readonly promptId: string
  /** The stop reason, or the `data.code` of an error. */
  readonly end: string
}

/** What one client was shown in one life of the server, in order: a load's replay, if there was one, and what came live. */
export interface View {
  readonly updates: readonly SeenUpdate[]
  readonly answers: readonly Answer[]
}

/** A row of the journal file, read without any code of ours. */
export interface JournalRow {
  readonly seq: number
  readonly body: Fields & { readonly kind: string }
}

/** One line that the tool wrote. */
export interface SideEffect {
  readonly label: string
  /** Which start of the server's life called it. */
  readonly life: string
}

export interface Evidence {
  readonly views: readonly View[]
  /** The last load, when nothing ran any more. */
  readonly replay: readonly SeenUpdate[]
  readonly journal: readonly JournalRow[]
  readonly effects: readonly SideEffect[]
  /** The text of each prompt that was sent, by its id. */
  readonly prompts: ReadonlyMap<string, string>
  /** All that the agent says in a whole turn. */
  readonly story: string
}

export type FindingKind = 'lost' | 'doubled' | 'without an end' | 'early' | 'wrong'

export interface Finding {
  readonly kind: FindingKind
  readonly what: string
}
