/** An agent whose every word is the test's: each turn plays the script that stands on the table when it begins. */
import { fail } from '../../src/errors/parley-error.ts'
import type { Agent, Agents, PromptKinds, StopReason, Turn } from '../../src/ports/agent.ts'
import type { PermissionOutcome, SlashCommand } from '../../src/ports/content.ts'
import type { ConfigOption, Modes } from '../../src/ports/settings.ts'
import { text } from './words.ts'

export type Script = (turn: Turn) => Promise<StopReason>

/** What was answered before a turn went on that had asked. */
export function answerIn({ resumed }: Turn): PermissionOutcome | undefined {
  const outcome = resumed?.calls[0]?.outcome
  return outcome?.outcome === 'begun' ? undefined : outcome
}

export class Puppet implements Agent {
  commands: readonly SlashCommand[] = []
  modes?: Modes
  configOptions?: readonly ConfigOption[]
  /** The turns that it was given, in order. */
  readonly turns: Turn[] = []
  script: Script = async (turn) => {
    await turn.say(text('Hello!'))
    return 'end_turn'
  }

  run(turn: Turn): Promise<StopReason> {
    this.turns.push(turn)
    return this.script(turn)
  }
}

/** Puppets by their names; one that was taken away can no longer be opened. */
export class Puppets implements Agents {
  readonly default = 'puppet'
  /** What all of them take besides text and links. */
  kinds: PromptKinds = { image: false, audio: false, embeddedContext: false }
  readonly #puppets = new Map<string, Puppet>()

  /** The one of this name, made if need be. */
  named(name: string): Puppet {
    const puppet = this.#puppets.get(name) ?? new Puppet()
    this.#puppets.set(name, puppet)
    return puppet
  }

  takeAway(name: string): void {
    this.#puppets.delete(name)
  }

  /** Says that puppets have something else to offer. */
  change: (kind: string) => void = () => {}

  whenChanged(listener: (kind: string) => void): void {
    this.change = listener
  }

  async resolveAgentName(wish: string): Promise<string> {
    return wish
  }

  async open(name: string): Promise<Agent> {
    return this.#puppets.get(name) ?? fail('AGENT_UNKNOWN', { agent: name })
  }

  accepts() {
    return this.kinds
  }
}

/** Something that the test decides when it happens. */
export function signal<T = void>() {
  let give: (value: T) => void = () => {}
  const given = new Promise<T>((resolve) => {
    give = resolve
  })
  return { given, give }
}

/** An agent that works until it is told to stop, and then says so. */
export const untilCancelled: Script = (turn) =>
  new Promise((resolve) => turn.signal.addEventListener('abort', () => resolve('cancelled'), { once: true }))

/** An agent that does not listen. */
export const deaf: Script = () => new Promise(() => {})
