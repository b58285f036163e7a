/** Reads modes and config options as agents of ACP v1 send them. What does not have the right shape is left out. Pure. */
import type { Choice, ChoiceGroup, ConfigOption, Modes } from '../../../../ports/values/settings.ts'
import { fieldsOf } from '../../../../rpc/json-rpc.ts'
import type { Quirks } from '../quirks.ts'
import { metaIn } from '../updates/content.ts'

/** Null for an agent without modes. Their ids are the agent's own: none of them means a mode of Parley. */
export function modesIn(value: unknown): Modes | null {
  const { currentModeId, availableModes } = fieldsOf(value)
  if (!Array.isArray(availableModes)) return null
  const modes = availableModes.flatMap((one) => {
    const fields = fieldsOf(one)
    const { id, name, description } = fields
    if (typeof id !== 'string') return []
    const about = { ...(typeof description === 'string' && { description }), ...metaIn(fields) }
    return [{ id, name: typeof name === 'string' ? name : id, ...about }]
  })
  const current = modes.find(({ id }) => id === currentModeId) ?? modes[0]
  return current === undefined ? null : { currentModeId: current.id, availableModes: modes, areAgents: true }
}

export function optionsIn(value: unknown): readonly ConfigOption[] {
  return Array.isArray(value) ? value.flatMap((one) => optionIn(one) ?? []) : []
}

function optionIn(value: unknown): ConfigOption | undefined {
  const fields = fieldsOf(value)
  const { id, name, description, category, type, currentValue, options } = fields
  if (typeof id !== 'string') return undefined
  const about = {
    id,
    name: typeof name === 'string' ? name : id,
    ...(typeof description === 'string' && { description }),
    ...(typeof category === 'string' && { category }),
    ...metaIn(fields),
  }
  if (type === 'boolean') return typeof currentValue === 'boolean' ? { ...about, type, currentValue } : undefined
  const choices = type === 'select' && Array.isArray(options) ? choicesIn(options) : []
  if (typeof currentValue !== 'string' || choices.length === 0) return undefined
  return { ...about, type: 'select', currentValue, options: choices }
}

function choicesIn(options: readonly unknown[]): readonly Choice[] | readonly ChoiceGroup[] {
  const isGrouped = options.some((one) => 'group' in fieldsOf(one))
  return isGrouped ? options.flatMap((one) => groupIn(one)) : options.flatMap((one) => choiceIn(one))
}

function groupIn(value: unknown): readonly ChoiceGroup[] {
  const fields = fieldsOf(value)
  const { group, name, options } = fields
  if (typeof group !== 'string' || !Array.isArray(options)) return []
  const about = { group, name: typeof name === 'string' ? name : group, ...metaIn(fields) }
  return [{ ...about, options: options.flatMap((one) => choiceIn(one)) }]
}

function choiceIn(one: unknown): readonly Choice[] {
  const fields = fieldsOf(one)
  const { value, name, description } = fields
  if (typeof value !== 'string') return []
  const about = { ...(typeof description === 'string' && { description }), ...metaIn(fields) }
  return [{ value, name: typeof name === 'string' ? name : value, ...about }]
}

/** The ids and categories of options for what some agents offer in another shape. */
export const MODE_OPTION = 'mode'
export const MODEL_OPTION = 'model'

/** A change of options can be sent to clients at any time, new modes only when they open the session. Of some agents they are no modes. */
export function modeOption({ currentModeId, availableModes }: Modes, modesAre: Quirks['modesAre']): ConfigOption {
  const options = availableModes.map(({ id, name, description }) => ({
    value: id,
    name,
    ...(description !== undefined && description !== null && { description }),
  }))
  const name = modesAre === 'mode' ? 'Mode' : 'Thinking'
  return { id: MODE_OPTION, name, category: modesAre, type: 'select', currentValue: currentModeId, options }
}

/** `models` of an agent that has no option for them; undefined if it has none. */
export function modelOption(value: unknown): ConfigOption | undefined {
  const { currentModelId, availableModels } = fieldsOf(value)
  if (typeof currentModelId !== 'string' || !Array.isArray(availableModels)) return undefined
  const options = availableModels.flatMap((one) => {
    const { modelId, name, description } = fieldsOf(one)
    if (typeof modelId !== 'string') return []
    const about = typeof description === 'string' ? { description } : {}
    return [{ value: modelId, name: typeof name === 'string' ? name : modelId, ...about }]
  })
  if (!options.some(({ value: known }) => known === currentModelId)) return undefined
  const about = { id: MODEL_OPTION, name: 'Model', category: MODEL_OPTION } as const
  return { ...about, type: 'select', currentValue: currentModelId, options }
}
