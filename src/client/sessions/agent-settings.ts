/** The settings of a session's agent: its options in the agent's order or, where it has none, its modes. */
import { fieldsOf, type Fields } from '../../rpc/json-rpc.ts'
import { fail } from '../client-error.ts'

/** As the agent sent them last; undefined for what it does not have. */
export interface ChosenSettings {
  readonly modes: { readonly current: string; readonly choices: readonly SettingChoice[] } | undefined
  readonly options: readonly Fields[] | undefined
}

export interface SettingChoice {
  readonly value: string
  readonly name: string
}

export interface Setting {
  readonly id: string
  readonly name: string
  /** The subject of the setting, if the agent names one; it may be a word that ACP does not know. */
  readonly category: string | null
  readonly value: string | boolean
  /** None for a setting that is true or false. */
  readonly choices: readonly SettingChoice[]
  readonly by: 'option' | 'mode'
}

/** The settings of each open session. */
export class KnownSettings {
  readonly #of = new Map<string, ChosenSettings>()

  of(sessionId: string): readonly Setting[] {
    return settingsOf(this.#of.get(sessionId) ?? NO_SETTINGS)
  }

  /** Replaces what was known before. */
  opened(sessionId: string, result: Fields): void {
    this.#of.set(sessionId, settingsAfter(NO_SETTINGS, result))
  }

  changed(sessionId: string, change: Fields): void {
    this.#of.set(sessionId, settingsAfter(this.#of.get(sessionId) ?? NO_SETTINGS, change))
  }

  /** An update of a session that is not open here is ignored. */
  updated(sessionId: string, update: Fields): void {
    if (this.#of.has(sessionId)) this.changed(sessionId, update)
  }
}

const NO_SETTINGS: ChosenSettings = { modes: undefined, options: undefined }

/** `change` is an update, or the answer to a request that opens a session or sets an option. */
function settingsAfter({ modes, options }: ChosenSettings, change: Fields): ChosenSettings {
  const { currentModeId } = change
  const offered = 'modes' in change ? modesIn(change['modes']) : modes
  return {
    modes: typeof currentModeId === 'string' && offered ? { ...offered, current: currentModeId } : offered,
    options: Array.isArray(change['configOptions']) ? change['configOptions'].map(fieldsOf) : options,
  }
}

/** Modes count only where there are no options. An option of an unknown type is left out. */
function settingsOf({ modes, options }: ChosenSettings): readonly Setting[] {
  if (options !== undefined) return options.flatMap((option) => optionIn(option) ?? [])
  if (modes === undefined) return []
  const { current: value, choices } = modes
  return [{ id: 'mode', name: 'Mode', category: 'mode', value, choices, by: 'mode' }]
}

/** The request that sets it. Throws SETTING_UNKNOWN or SETTING_IMPOSSIBLE. */
export function settingRequest(settings: readonly Setting[], id: string, wanted: string) {
  const known = settings.map((one) => one.id).join(', ') || 'none'
  const setting = settings.find((one) => one.id === id) ?? fail('SETTING_UNKNOWN', { id, known })
  const isSwitch = typeof setting.value === 'boolean'
  const values = isSwitch ? ['true', 'false'] : setting.choices.map(({ value }) => value)
  if (!values.includes(wanted)) fail('SETTING_IMPOSSIBLE', { id, value: wanted, allowed: values.join(', ') })
  if (setting.by === 'mode') return { method: 'session/set_mode', params: { modeId: wanted } }
  const value = isSwitch ? { type: 'boolean', value: wanted === 'true' } : { value: wanted }
  return { method: 'session/set_config_option', params: { configId: id, ...value } }
}

function modesIn(value: unknown): ChosenSettings['modes'] {
  const { currentModeId, availableModes } = fieldsOf(value)
  if (typeof currentModeId !== 'string' || !Array.isArray(availableModes)) return undefined
  return { current: currentModeId, choices: availableModes.flatMap((mode) => choiceIn(fieldsOf(mode), 'id')) }
}

function optionIn(option: Fields): Setting | undefined {
  const { id, name, type, category, currentValue } = option
  if (typeof id !== 'string') return undefined
  const about = { id, name: typeof name === 'string' ? name : id, by: 'option' as const }
  const named = { ...about, category: typeof category === 'string' ? category : null }
  if (type === 'boolean' && typeof currentValue === 'boolean') return { ...named, value: currentValue, choices: [] }
  if (type !== 'select' || typeof currentValue !== 'string') return undefined
  return { ...named, value: currentValue, choices: choicesIn(option['options']) }
}

/** Choices may be grouped. */
function choicesIn(options: unknown): readonly SettingChoice[] {
  const flat = listOf(options).flatMap((one) => ('options' in one ? listOf(one['options']) : [one]))
  return flat.flatMap((one) => choiceIn(one, 'value'))
}

function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map(fieldsOf) : []
}

function choiceIn(fields: Fields, key: string): readonly SettingChoice[] {
  const { [key]: value, name } = fields
  return typeof value === 'string' ? [{ value, name: typeof name === 'string' ? name : value }] : []
}
