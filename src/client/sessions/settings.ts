/** What people can set about a session's agent: its options in the order that it gave them or, where it has none, its modes. */
import { fail } from '../../errors/parley-error.ts'
import { fieldsOf } from '../initialize/capabilities.ts'

type Fields = Readonly<Record<string, unknown>>

/** As the agent told it last; undefined for what it has not got. */
export interface Settings {
  readonly modes: { readonly current: string; readonly choices: readonly Choice[] } | undefined
  readonly options: readonly Fields[] | undefined
}

export interface Choice {
  readonly value: string
  readonly name: string
}

export interface Setting {
  readonly id: string
  readonly name: string
  /** What it is about, if the agent says so; a word that nobody knows is no less good. */
  readonly category: string | null
  readonly value: string | boolean
  /** None for what is true or false. */
  readonly choices: readonly Choice[]
  readonly by: 'option' | 'mode'
}

/** What each session can be set to, as far as its agent has said so here. */
export class KnownSettings {
  readonly #of = new Map<string, Settings>()

  of(sessionId: string): readonly Setting[] {
    return settingsOf(this.#of.get(sessionId) ?? NOTHING_SET)
  }

  /** What was known of it before counts no more. */
  opened(sessionId: string, result: Fields): void {
    this.#of.set(sessionId, settingsAfter(NOTHING_SET, result))
  }

  told(sessionId: string, told: Fields): void {
    this.#of.set(sessionId, settingsAfter(this.#of.get(sessionId) ?? NOTHING_SET, told))
  }

  /** An update concerns only what is open. */
  changed(sessionId: string, update: Fields): void {
    if (this.#of.has(sessionId)) this.told(sessionId, update)
  }
}

const NOTHING_SET: Settings = { modes: undefined, options: undefined }

/** `told` is an answer to whoever opens a session or sets an option, or an update. */
function settingsAfter({ modes, options }: Settings, told: Fields): Settings {
  const { currentModeId } = told
  const offered = 'modes' in told ? modesIn(told['modes']) : modes
  return {
    modes: typeof currentModeId === 'string' && offered ? { ...offered, current: currentModeId } : offered,
    options: Array.isArray(told['configOptions']) ? told['configOptions'].map(fieldsOf) : options,
  }
}

/** Modes count only where there are no options; an option of a kind that we do not know is not ours to set. */
function settingsOf({ modes, options }: Settings): readonly Setting[] {
  if (options !== undefined) return options.flatMap((option) => optionIn(option) ?? [])
  if (modes === undefined) return []
  const { current: value, choices } = modes
  return [{ id: 'mode', name: 'Mode', category: 'mode', value, choices, by: 'mode' }]
}

/** What sets it. Throws SETTING_UNKNOWN or SETTING_IMPOSSIBLE. */
export function settingRequest(settings: readonly Setting[], id: string, wish: string) {
  const known = settings.map((one) => one.id).join(', ') || 'none'
  const setting = settings.find((one) => one.id === id) ?? fail('SETTING_UNKNOWN', { id, known })
  const isSwitch = typeof setting.value === 'boolean'
  const values = isSwitch ? ['true', 'false'] : setting.choices.map(({ value }) => value)
  if (!values.includes(wish)) fail('SETTING_IMPOSSIBLE', { id, value: wish, allowed: values.join(', ') })
  if (setting.by === 'mode') return { method: 'session/set_mode', params: { modeId: wish } }
  const value = isSwitch ? { type: 'boolean', value: wish === 'true' } : { value: wish }
  return { method: 'session/set_config_option', params: { configId: id, ...value } }
}

function modesIn(value: unknown): Settings['modes'] {
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

/** They may stand in groups. */
function choicesIn(options: unknown): readonly Choice[] {
  const flat = listOf(options).flatMap((one) => ('options' in one ? listOf(one['options']) : [one]))
  return flat.flatMap((one) => choiceIn(one, 'value'))
}

function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map(fieldsOf) : []
}

function choiceIn(fields: Fields, key: string): readonly Choice[] {
  const { [key]: value, name } = fields
  return typeof value === 'string' ? [{ value, name: typeof name === 'string' ? name : value }] : []
}
