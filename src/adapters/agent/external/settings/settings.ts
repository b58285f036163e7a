/** Modes, options and commands of an external agent: as it offers them, and as it was last met while it does not run. */
import type { AgentCapabilities } from '../../../../ports/agent.ts'
import type { SlashCommand } from '../../../../ports/values/content.ts'
import type { ConfigOption, ConfigValue, Modes, Settings } from '../../../../ports/values/settings.ts'
import { fieldsOf } from '../../../../rpc/json-rpc.ts'
import type { AgentOffers } from '../launch.ts'
import { commandsIn, type SaidUpdate } from '../updates/read-update.ts'
import { modesIn, optionsIn } from './read-settings.ts'

/** The running agent, with its conversation for the session open. */
export interface SettingsTarget {
  readonly sessionId: string
  request(method: string, params: object): Promise<unknown>
}

export class AgentSettings {
  #modes: Modes | null = null
  #options: readonly ConfigOption[] = []
  #commands: readonly SlashCommand[] = []
  #rawCommands: readonly unknown[] = []
  /** The values came from the agent that runs now. */
  #isCurrent = false

  constructor(offers: AgentOffers | undefined) {
    if (offers === undefined) return
    this.#take(offers)
    this.#takeCommands(offers.commands)
  }

  get capabilities(): AgentCapabilities {
    const settings: Settings = { modes: this.#modes, configOptions: this.#options }
    return { commands: this.#commands, settings, ...(this.#isCurrent && { isCurrent: true }) }
  }

  get rawCommands(): readonly unknown[] {
    return this.#rawCommands
  }

  /** The response to `session/new`, `load` or `resume`. */
  opened(response: unknown): void {
    this.#take(fieldsOf(response))
    this.#isCurrent = true
  }

  /** The agent runs no more: what is known are wishes again. */
  closed(): void {
    this.#isCurrent = false
  }

  /** What the agent says of its settings. False if that changes nothing. */
  heard(said: SaidUpdate): boolean {
    const before = JSON.stringify([this.#modes, this.#options, this.#commands])
    if (said.kind === 'commands') this.#takeCommands(said.raw)
    if (said.kind === 'options') this.#options = optionsIn(said.configOptions)
    if (said.kind === 'mode') this.#modes = inMode(this.#modes, said.modeId)
    return JSON.stringify([this.#modes, this.#options, this.#commands]) !== before
  }

  /** Throws what the agent refuses it with. */
  async setMode(target: SettingsTarget, modeId: string): Promise<void> {
    await target.request('session/set_mode', { sessionId: target.sessionId, modeId })
    this.#modes = inMode(this.#modes, modeId)
  }

  /** The answer is the whole list, since options depend on each other. Throws what the agent refuses it with. */
  async setConfigOption(target: SettingsTarget, configId: string, value: ConfigValue): Promise<void> {
    const { sessionId } = target
    const typed = typeof value === 'boolean' ? { type: 'boolean', value } : { value }
    const answer = fieldsOf(await target.request('session/set_config_option', { sessionId, configId, ...typed }))
    if (Array.isArray(answer['configOptions'])) this.#options = optionsIn(answer['configOptions'])
  }

  #take({ modes, configOptions }: Readonly<Record<string, unknown>> | AgentOffers): void {
    this.#modes = modesIn(modes)
    this.#options = optionsIn(configOptions)
  }

  #takeCommands(raw: readonly unknown[]): void {
    this.#rawCommands = raw
    this.#commands = commandsIn(raw)
  }
}

function inMode(modes: Modes | null, currentModeId: string): Modes | null {
  const isKnown = modes?.availableModes.some(({ id }) => id === currentModeId) === true
  return isKnown ? { ...modes, currentModeId } : modes
}
