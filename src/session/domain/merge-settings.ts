/** Modes and options of a session: the agent's offer, merged with the values that users have set. Pure. */
import { fail } from '../../errors/parley-error.ts'
import type { Choice, ConfigOption, ConfigValue, Modes, SelectOption, Settings } from '../../ports/values/settings.ts'
import type { Body } from './entries.ts'

/**
 * The entries that bring a session to what its agent offers. A value that was set stays where the agent still allows it, unless
 * the agent says that its own values are what it works with now (`isCurrent`).
 */
export function offerSettings(offered: Settings, now: Settings, isCurrent = false): readonly Body[] {
  const modes = isCurrent ? offered.modes : keptMode(offered.modes, now.modes)
  const configOptions = isCurrent
    ? offered.configOptions
    : offered.configOptions.map((option) => keptValue(option, optionOf(option.id, now)))
  return [
    ...(sameJson(modes, now.modes) ? [] : [{ kind: 'modes', modes } as const]),
    ...(sameJson(configOptions, now.configOptions) ? [] : [{ kind: 'config_options', configOptions } as const]),
  ]
}

/** The option of the same meaning follows. Throws MODE_UNKNOWN. */
export function setMode(modeId: string, now: Settings): readonly Body[] {
  if (!hasMode(now.modes, modeId)) fail('MODE_UNKNOWN', { mode: modeId, known: modeIds(now.modes) })
  const twin = now.configOptions.find((option) => isModeOption(option) && allows(option, modeId))
  return [...switched(modeId, now), ...(twin === undefined ? [] : changed(twin.id, modeId, now))]
}

/** The mode follows the option that means it. Throws CONFIG_OPTION_UNKNOWN and CONFIG_VALUE_UNKNOWN. */
export function setConfigOption(configId: string, value: ConfigValue, now: Settings): readonly Body[] {
  const option = optionOf(configId, now)
  if (option === undefined) return fail('CONFIG_OPTION_UNKNOWN', { option: configId })
  if (!allows(option, value)) fail('CONFIG_VALUE_UNKNOWN', { option: configId, value: String(value) })
  const follows = isModeOption(option) && typeof value === 'string' && hasMode(now.modes, value)
  return [...changed(configId, value, now), ...(follows ? switched(value, now) : [])]
}

/** Whether the option can have this value. */
function allows(option: ConfigOption, value: unknown): boolean {
  if (option.type === 'boolean') return typeof value === 'boolean'
  return choicesOf(option).some((choice) => choice.value === value)
}

function switched(modeId: string, { modes }: Settings): readonly Body[] {
  return modes?.currentModeId === modeId ? [] : [{ kind: 'mode', modeId }]
}

function changed(configId: string, value: ConfigValue, { configOptions }: Settings): readonly Body[] {
  const after = configOptions.map((option) => (option.id === configId ? withValue(option, value) : option))
  return sameJson(after, configOptions) ? [] : [{ kind: 'config_options', configOptions: after }]
}

function keptMode(offered: Modes | null, now: Modes | null): Modes | null {
  if (offered === null || now === null || !hasMode(offered, now.currentModeId)) return offered
  return { ...offered, currentModeId: now.currentModeId }
}

/**
 * A value that was set stays, unless the configuration now names another one for the agent. Where the list of choices may be incomplete
 * it stays even if the list does not have it.
 */
function keptValue(offered: ConfigOption, now: ConfigOption | undefined): ConfigOption {
  if (now === undefined || now.type !== offered.type || configuredIn(offered) !== configuredIn(now)) return offered
  if (allows(offered, now.currentValue)) return withValue(offered, now.currentValue)
  const isKept = offered.type === 'select' && now.type === 'select' && offered.allowsOther === true
  return isKept ? withValue(alsoOffering(offered, now.currentValue), now.currentValue) : offered
}

function configuredIn(option: ConfigOption): string | undefined {
  return option.type === 'select' ? option.configuredValue : undefined
}

function alsoOffering(option: SelectOption, value: string): SelectOption {
  const choice = { value, name: value }
  const isGrouped = option.options.some((one) => 'group' in one)
  const more = isGrouped ? { group: 'parley/kept', name: 'Chosen before', options: [choice] } : choice
  return { ...option, options: [...option.options, more] as SelectOption['options'] }
}

/** The value is known to be one that the option allows. */
function withValue(option: ConfigOption, currentValue: ConfigValue): ConfigOption {
  return { ...option, currentValue } as ConfigOption
}

function optionOf(id: string, { configOptions }: Settings): ConfigOption | undefined {
  return configOptions.find((option) => option.id === id)
}

function isModeOption(option: ConfigOption): option is SelectOption {
  return option.type === 'select' && option.category === 'mode'
}

function choicesOf({ options }: SelectOption): readonly Choice[] {
  return options.flatMap((one): readonly Choice[] => ('group' in one ? one.options : [one]))
}

function hasMode(modes: Modes | null, modeId: string): boolean {
  return modes?.availableModes.some(({ id }) => id === modeId) === true
}

function modeIds(modes: Modes | null): string {
  return modes === null ? 'none' : modes.availableModes.map(({ id }) => id).join(', ')
}

function sameJson(left: unknown, right: unknown): boolean {
  return JSON.stringify(left) === JSON.stringify(right)
}
