/** An agent whose every word is the test's: each turn plays the script that stands on the table when it begins. */
import { fail } from '../../src/errors/parley-error.ts'
import type {
  Agent,
  AgentCapabilities,
  AgentSession,
  Agents,
  PromptKinds,
  StopReason,
  Turn,
} from '../../src/ports/agent.ts'
import type { PermissionOutcome, SlashCommand } from '../../src/ports/values/content.ts'
import type { ConfigOption, ConfigValue, Modes } from '../../src/ports/values/settings.ts'
import { text } from './words.ts'

export type Script = (turn: Turn) => Promise<StopReason>

/** What was answered before a turn went on that had asked. */
export function answerIn({ resumed }: Turn): PermissionOutcome | undefined {
  const outcome = resumed?.calls[0]?.outcome
  return outcome?.outcome === 'begun' ? undefined : outcome
}

/** One agent for every session that opens it: a test sets what it does, and reads what it was asked. */
export class Puppet {
  commands: readonly SlashCommand[] = []
  modes?: Modes
  configOptions?: readonly ConfigOption[]
  /** In place of these three. */
  capabilities?: AgentCapabilities
  /** The turns that it was given, in order. */
  readonly turns: Turn[] = []
  /** The sessions that have opened it and not closed it yet. */
  readonly sessions = new Set<AgentSession>()
  /** Called with a setting before it is stored; a throw refuses it. Absent, the puppet reads `Turn.settings`. */
  applies?: (id: string, value: ConfigValue) => Promise<void>
  /** Called when a session opens it. */
  opened?: (session: AgentSession) => void
  script: Script = async (turn) => {
    await turn.say(text('Hello!'))
    return 'end_turn'
  }

  open(session: AgentSession): Agent {
    this.sessions.add(session)
    this.opened?.(session)
    const capabilities = (): AgentCapabilities => {
      if (this.capabilities !== undefined) return this.capabilities
      const { commands, modes = null, configOptions = [] } = this
      return { commands, settings: { modes, configOptions } }
    }
    return {
      get capabilities() {
        return capabilities()
      },
      ...(this.applies && {
        setMode: (modeId) => this.#apply('mode', modeId),
        setConfigOption: (configId, value) => this.#apply(configId, value),
      }),
      run: (turn) => {
        this.turns.push(turn)
        return this.script(turn)
      },
      close: async () => void this.sessions.delete(session),
    }
  }

  async #apply(id: string, value: ConfigValue): Promise<void> {
    await this.applies?.(id, value)
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

  async resolveAgentName(wish: string): Promise<string> {
    return wish
  }

  async check(name: string): Promise<void> {
    if (!this.#puppets.has(name)) fail('AGENT_UNKNOWN', { agent: name })
  }

  async open(name: string, session: AgentSession): Promise<Agent> {
    return (this.#puppets.get(name) ?? fail('AGENT_UNKNOWN', { agent: name })).open(session)
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
