/** A case: one requirement tried in one conversation, judged by a pure check, with a fault that it must notice. */
import type { Fields } from '../../e2e/message.ts'
import type { Mutant } from './mutant.ts'
import type { Transcript } from './record.ts'
import type { Stage } from './stage.ts'

export type Tag =
  /** Needs two clients at once: not over one pipe. */
  | 'company'
  /** What it tries, a transport can spoil: framing, order, ids, replays, cancels, requests to the client. */
  | 'carried'
  /** Cuts messages in the middle: only over a stream of bytes. */
  | 'bytes'
  /** The case says everything itself, `initialize` too. */
  | 'raw'
  /** Parley's own way, where the standard is silent: others may do otherwise. */
  | 'ours'

interface Talk<Seen> {
  readonly tags?: readonly Tag[]
  /** Played by Parley's scripted agent; other agents cannot be told what to do. */
  readonly script?: readonly Fields[]
  /** What the client says that it can. */
  readonly client?: Fields
  /** Settings of the server, in its environment. */
  readonly env?: Readonly<Record<string, string>>
  play(stage: Stage): Promise<Seen>
  /** What is wrong, or undefined. */
  check(seen: Seen, transcript: Transcript): string | undefined
  readonly mutant: Mutant
}

export interface Case<Seen = unknown> extends Talk<Seen> {
  /** The row of the standard's requirements (docs/internals/conformance.md explains the letters), or a decision of docs/internals/protocol.md. */
  readonly row: string
  /** In product words. */
  readonly name: string
}

/** Ties what a talk brings to what its check looks at. */
export function one<Seen>(row: string, name: string, talk: Talk<Seen>): Case {
  return { row, name, ...talk }
}

export function isTagged({ tags }: Pick<Case, 'tags'>, tag: Tag): boolean {
  return tags?.includes(tag) === true
}

/** Undefined when it holds. */
export function unless(holds: boolean, otherwise: string): string | undefined {
  return holds ? undefined : otherwise
}

/** The same for each of many. */
export function every<Item>(
  all: readonly Item[],
  holds: (item: Item) => boolean,
  otherwise: string,
): string | undefined {
  return unless(all.every(holds), otherwise)
}

/** The first complaint, if there is one. */
export function first(...complaints: readonly (string | undefined)[]): string | undefined {
  return complaints.find((complaint) => complaint !== undefined)
}
