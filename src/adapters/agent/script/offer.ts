/** Reads the offer of a script's agent from its first line: modes, options, and the kinds of prompt content that it takes. */
import type { PromptKinds } from '../../../ports/agent.ts'
import type { Choice, ConfigOption, ConfigValue, Mode, Modes } from '../../../ports/values/settings.ts'
import { type Fields, given, list, object, oneOf, only, optionalText, text, withMeta } from './fields.ts'

export interface ScriptOffer {
  readonly modes?: Modes
  readonly configOptions: readonly ConfigOption[]
  readonly accepts: PromptKinds
}

export const NO_OFFER: ScriptOffer = {
  configOptions: [],
  accepts: { image: false, audio: false, embeddedContext: false },
}

/** `{modes?, configOptions?, promptCapabilities?}` as ACP has them. */
export function offerOf(value: unknown): ScriptOffer {
  const fields = given(object(value, 'agent'))
  only(fields, ['modes', 'configOptions', 'promptCapabilities'], 'agent')
  const { modes, configOptions = [], promptCapabilities = {} } = fields
  const options = list(configOptions, 'configOptions').map(option)
  unique(options, 'configOptions')
  return {
    ...(modes === undefined ? {} : { modes: modesOf(object(modes, 'modes')) }),
    configOptions: options,
    accepts: kinds(object(promptCapabilities, 'promptCapabilities')),
  }
}

/** Throws when the agent has no such mode. */
export function requireMode({ modes }: ScriptOffer, modeId: string): string {
  const ids = modes?.availableModes.map(({ id }) => id) ?? []
  return oneOf(ids, modeId, 'mode')
}

/** Throws when the agent has no such option, or the option cannot have that value. */
export function requireValue({ configOptions }: ScriptOffer, configId: string, value: unknown): ConfigValue {
  const ids = configOptions.map(({ id }) => id)
  const found = configOptions.find(({ id }) => id === oneOf(ids, configId, 'configId'))
  if (found?.type === 'boolean') return flag({ value }, 'value')
  return oneOf(found === undefined ? [] : choicesOf(found.options).map((one) => one.value), value, 'value')
}

function modesOf(fields: Fields): Modes {
  only(fields, ['currentModeId', 'availableModes'], 'modes')
  const availableModes = list(fields['availableModes'], 'availableModes').map(mode)
  unique(availableModes, 'availableModes')
  const ids = availableModes.map(({ id }) => id)
  return { currentModeId: oneOf(ids, fields['currentModeId'], 'currentModeId'), availableModes }
}

function mode(value: unknown): Mode {
  const fields = only(given(object(value, 'a mode')), ['id', 'name', 'description'], 'a mode')
  for (const key of ['id', 'name']) text(fields, key)
  optionalText(fields['description'], 'description')
  return withMeta(fields) as unknown as Mode
}

const OPTION = ['id', 'name', 'description', 'category', 'type', 'currentValue', 'options']

function option(value: unknown): ConfigOption {
  const fields = only(given(object(value, 'an option')), OPTION, 'an option')
  for (const key of ['id', 'name']) text(fields, key)
  for (const key of ['description', 'category']) optionalText(fields[key], key)
  if (oneOf(['select', 'boolean'], fields['type'], 'type') === 'boolean') flag(fields, 'currentValue')
  else oneOf(choices(fields['options']), fields['currentValue'], 'currentValue')
  const offered = withMeta(fields)
  const held = Array.isArray(offered['options']) && { options: offered['options'].map(choiceWithMeta) }
  return { ...offered, ...held } as unknown as ConfigOption
}

/** The values of the choices, which stand in groups or in one list. */
function choices(value: unknown): readonly string[] {
  const all = list(value, 'options').map((one) => object(one, 'a choice'))
  const isGrouped = all.some((one) => 'group' in one)
  if (isGrouped) for (const group of all) for (const key of ['group', 'name']) text(group, key)
  const flat = isGrouped ? all.flatMap((group) => list(group['options'], 'options')) : all
  return flat.map((one) => choice(object(one, 'a choice')))
}

function choice(fields: Fields): string {
  const { value, name, description } = only(given(fields), ['value', 'name', 'description'], 'a choice')
  text({ name }, 'name')
  optionalText(description, 'description')
  return text({ value }, 'value')
}

function choiceWithMeta(choice: Fields): Fields {
  const { options } = choice
  return withMeta(Array.isArray(options) ? { ...choice, options: options.map(withMeta) } : choice)
}

function choicesOf(options: (ConfigOption & { readonly type: 'select' })['options']): readonly Choice[] {
  return options.flatMap((one): readonly Choice[] => ('group' in one ? one.options : [one]))
}

function kinds(fields: Fields): PromptKinds {
  only(fields, ['image', 'audio', 'embeddedContext'], 'promptCapabilities')
  const isTaken = (key: string) => key in fields && flag(fields, key)
  return { image: isTaken('image'), audio: isTaken('audio'), embeddedContext: isTaken('embeddedContext') }
}

function flag(fields: Fields, key: string): boolean {
  const value = fields[key]
  if (typeof value === 'boolean') return value
  throw new Error(`${key} must be true or false`)
}

function unique(all: readonly { readonly id: string }[], what: string): void {
  if (new Set(all.map(({ id }) => id)).size < all.length) throw new Error(`${what} has an id twice`)
}
