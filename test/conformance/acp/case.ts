/** A case: one requirement tried in one conversation, judged by a pure check, with a fault that it must notice. */
import type { Fields } from '../../e2e/message.ts'
import type { Mutant } from './mutant.ts'
import type { Transcript } from './record.ts'
import type { Stage } from './stage.ts'

export interface Case<Seen = unknown> {
  /** The row of the standard's requirements (docs/internals/conformance.md explains the letters), or a decision of docs/internals/protocol.md. */
  readonly row: string
  /** In product words. */
  readonly name: string
  /** Played by Parley's scripted agent; other agents cannot be told what to do. */
  readonly script?: readonly Fields[]
  /** What the client says that it can. */
  readonly client?: Fields
  /** Needs two clients at once: not over one pipe. */
  readonly company?: true
  /** What it tries, a transport can spoil: framing, order, ids, replays, cancels, requests to the client. */
  readonly carried?: true
  /** Cuts messages in the middle: only over a stream of bytes. */
  readonly bytes?: true
  /** Settings of the server, in its environment. */
  readonly env?: Readonly<Record<string, string>>
  /** The case says everything itself, `initialize` too. */
  readonly raw?: true
  /** Parley's own way, where the standard is silent: others may do otherwise. */
  readonly ours?: true
  play(stage: Stage): Promise<Seen>
  /** What is wrong, or undefined. */
  check(seen: Seen, transcript: Transcript): string | undefined
  readonly mutant: Mutant
}

/** Ties what a talk brings to what its check looks at. */
export function one<Seen>(made: Case<Seen>): Case {
  return made
}

/** Undefined when it holds. */
export function unless(holds: boolean, otherwise: string): string | undefined {
  return holds ? undefined : otherwise
}

/** The first complaint, if there is one. */
export function first(...complaints: readonly (string | undefined)[]): string | undefined {
  return complaints.find((complaint) => complaint !== undefined)
}
