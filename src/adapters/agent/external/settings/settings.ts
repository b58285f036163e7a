/**
 * Modes, options and commands of an external agent: as it offers them now, or as it offered them last while it does not
 * run. Clients see one list: modes and models that an agent offers in another shape become options in it.
 */
import type { AgentCapabilities } from '../../../../ports/agent.ts'
import type { SlashCommand } from '../../../../ports/values/content.ts'
import type { ConfigOption, ConfigValue, Modes, Settings } from '../../../../ports/values/settings.ts'
import { fieldsOf } from '../../../../rpc/json-rpc.ts'
import type { AgentOffers } from '../launch.ts'
import type { Quirks } from '../quirks.ts'
import { commandsIn, type SaidUpdate } from '../updates/read-update.ts'
import { MODE_OPTION, MODEL_OPTION, modeOption, modelOption, modesIn, optionsIn } from './read-settings.ts'

/** The running agent, with its conversation for the session open. */
export interface SettingsTarget {
  readonly sessionId: string
  readonly quirks: Quirks
  request(method: string, params: object): Promise<unknown>
}

/** What a user set, or has configured for an agent. */
export interface WishedSettings {
  readonly mode?: string | undefined
  readonly options: Readonly<Record<string, ConfigValue>>
}

export class AgentSettings {
  #modes: Modes | null = null
  /** As the agent has them, without those that are only shown as options. */
  #options: readonly ConfigOption[] = []
  #model: ConfigOption | undefined
  #commands: readonly SlashCommand[] = []
  #rawCommands: readonly unknown[] = []
  #modesAre: Quirks['modesAre'] = 'mode'
  /** The values came from the agent that runs now. */
  #isCurrent = false
  #last: { readonly from: readonly unknown[]; readonly capabilities: AgentCapabilities } | undefined
  /** Of which settings the agent that was reopened has not said the values. */
  #unsure: 'nothing' | 'all' = 'nothing'

  constructor(offers: AgentOffers | undefined, quirks: Quirks) {
    if (offers === undefined) return
    this.#take(offers, quirks)
    this.#takeCommands(offers.commands)
  }

  /** The same object as long as nothing in it changes. */
  get capabilities(): AgentCapabilities {
    const from = [this.#modes, this.#modesAre, this.#model, this.#options, this.#commands, this.#isCurrent]
    const last = this.#last
    if (last !== undefined && from.every((part, index) => part === last.from[index])) return last.capabilities
    const settings: Settings = { modes: this.#modes, configOptions: this.#shown }
    const capabilities = { commands: this.#commands, settings, ...(this.#isCurrent && ({ isCurrent: true } as const)) }
    this.#last = { from, capabilities }
    return capabilities
  }

  get rawCommands(): readonly unknown[] {
    return this.#rawCommands
  }

  /** The response to `session/new`. */
  began(response: unknown, quirks: Quirks): void {
    this.#unsure = 'nothing'
    this.#take(fieldsOf(response), quirks)
  }

  /** The response to `session/load` or `resume`: what it does not speak of is as it was, but perhaps not with the same values. */
  reopened(response: unknown, quirks: Quirks): void {
    const said = fieldsOf(response)
    const [hasModes, hasOptions] = [said['modes'] !== undefined, said['configOptions'] !== undefined]
    this.#unsure = hasModes || hasOptions ? 'nothing' : 'all'
    if (hasModes) this.#modes = modesIn(said['modes'])
    if (hasOptions) this.#options = optionsIn(said['configOptions'])
    if (said['models'] !== undefined) this.#takeModel(said['models'], quirks)
  }

  /** From now on its values are those that count. */
  running(): void {
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
    const isOwn = this.#isOwn(configId)
    if (!isOwn && configId === MODE_OPTION) return this.setMode(target, String(value))
    if (!isOwn && configId === MODEL_OPTION) return this.#setModel(target, String(value))
    const { sessionId } = target
    const typed = typeof value === 'boolean' ? { type: 'boolean', value } : { value }
    const answer = fieldsOf(await target.request('session/set_config_option', { sessionId, configId, ...typed }))
    if (Array.isArray(answer['configOptions'])) this.#options = optionsIn(answer['configOptions'])
    else this.#options = this.#options.map((option) => (option.id === configId ? withValue(option, value) : option))
    const isMode = this.#options.some(({ id, category }) => id === configId && category === MODE_OPTION)
    if (isMode) this.#modes = inMode(this.#modes, String(value))
  }

  /**
   * Has the agent work with these settings, where it does not already: the model first, because other options depend on it, and
   * then the mode. Resolves with a sentence for each that it refused; its own value counts then. Of those in the configuration
   * also for each that it does not have: the name may be misspelt.
   */
  async push(
    target: SettingsTarget,
    { mode, options }: WishedSettings,
    isConfigured = false,
  ): Promise<readonly string[]> {
    const refused: string[] = []
    for (const [id, value] of this.#inOrder({ ...(mode !== undefined && { [MODE_OPTION]: mode }), ...options })) {
      const option = this.#shown.find((one) => one.id === id) ?? this.#modeOptionFor(id)
      const wanted = id === MODE_OPTION && mode !== undefined && !this.#isOwn(id) ? mode : value
      if (option === undefined && isConfigured) refused.push(this.#withoutOption(id))
      if (option === undefined || (option.currentValue === wanted && this.#unsure === 'nothing')) continue
      const kept = `${option.name} stays “${nameOf(option)}”`
      const setting = this.setConfigOption(target, option.id, wanted)
      await setting.catch((error: Error) => refused.push(`${kept}: ${error.message}`))
    }
    this.#unsure = 'nothing'
    return refused
  }

  #withoutOption(id: string): string {
    const known = this.#shown.map((option) => option.id)
    return `It has no option “${id}”${known.length > 0 ? `; it has: ${known.join(', ')}` : ''}.`
  }

  /** Agents with an option for their modes may call it otherwise. */
  #modeOptionFor(id: string): ConfigOption | undefined {
    return id === MODE_OPTION ? this.#shown.find(({ category }) => category === MODE_OPTION) : undefined
  }

  #isOwn(configId: string): boolean {
    return this.#options.some(({ id }) => id === configId)
  }

  /** All options as clients see them. */
  get #shown(): readonly ConfigOption[] {
    const has = (category: string): boolean =>
      this.#options.some((one) => one.category === category || one.id === category)
    const model = this.#model === undefined || has(MODEL_OPTION) ? [] : [this.#model]
    const mode = this.#modes === null || has(this.#modesAre) ? [] : [modeOption(this.#modes, this.#modesAre)]
    return [...mode, ...model, ...this.#options]
  }

  #inOrder(options: WishedSettings['options']): readonly (readonly [id: string, value: ConfigValue])[] {
    const rankOf = (id: string): number => {
      const category = this.#shown.find((one) => one.id === id)?.category
      return category === MODEL_OPTION ? 0 : category === MODE_OPTION ? 1 : 2
    }
    return Object.entries(options).toSorted(([one], [other]) => rankOf(one) - rankOf(other))
  }

  async #setModel(target: SettingsTarget, modelId: string): Promise<void> {
    const { sessionId, quirks } = target
    if (quirks.modelVerb === 'set_model') await target.request('session/set_model', { sessionId, modelId })
    else await target.request('session/set_config_option', { sessionId, configId: MODEL_OPTION, value: modelId })
    if (this.#model !== undefined) this.#model = withValue(this.#model, modelId)
  }

  #take({ modes, configOptions, models }: Readonly<Record<string, unknown>> | AgentOffers, quirks: Quirks): void {
    this.#modes = modesIn(modes)
    this.#options = optionsIn(configOptions)
    this.#takeModel(models, quirks)
  }

  #takeModel(models: unknown, { modelVerb, modesAre }: Quirks): void {
    this.#modesAre = modesAre
    this.#model = modelVerb === 'none' ? undefined : modelOption(models)
  }

  #takeCommands(raw: readonly unknown[]): void {
    this.#rawCommands = raw
    this.#commands = commandsIn(raw)
  }
}

/** What a session has, as wishes for an agent that starts again. */
export function wishesIn({ modes, configOptions }: Settings): WishedSettings {
  return {
    mode: modes?.currentModeId,
    options: Object.fromEntries(configOptions.map(({ id, currentValue }) => [id, currentValue])),
  }
}

function inMode(modes: Modes | null, currentModeId: string): Modes | null {
  const isKnown = modes?.availableModes.some(({ id }) => id === currentModeId) === true
  return isKnown ? { ...modes, currentModeId } : modes
}

function withValue(option: ConfigOption, value: ConfigValue): ConfigOption {
  return { ...option, currentValue: value } as ConfigOption
}

function nameOf(option: ConfigOption): string {
  if (option.type === 'boolean') return option.currentValue ? 'on' : 'off'
  const choices = option.options.flatMap((one) => ('group' in one ? one.options : [one]))
  return choices.find(({ value }) => value === option.currentValue)?.name ?? option.currentValue
}
