/** Settings of an agent that users may change, as the agent offers them: modes and options, each with its current value. */
import type { Meta } from './content.ts'

export interface Mode {
  readonly id: string
  readonly name: string
  readonly description?: string
  readonly meta?: Meta
}

/**
 * The modes in which Parley itself decides what needs a question: an agent has them by offering modes of these ids. Any other
 * id, and no mode at all, is as `ask`.
 */
export type PermissionModeId = 'ask' | 'accept-edits' | 'plan' | 'allow-all'

/** `currentModeId` is one of them. */
export interface Modes {
  readonly currentModeId: string
  readonly availableModes: readonly Mode[]
  /** The ids are the agent's own: one that is called like a mode of Parley does not mean that mode. */
  readonly areAgents?: true
}

interface OptionBase {
  readonly id: string
  readonly name: string
  readonly description?: string
  /** For the eye only: `mode`, `model`, `model_config`, `thought_level`, or `_…`. One of `mode` keeps step with the modes. */
  readonly category?: string
  readonly meta?: Meta
}

export interface SelectOption extends OptionBase {
  readonly type: 'select'
  /** One of the choices, unless `allowsOther`. */
  readonly currentValue: string
  /** The list of choices may be incomplete: a value that the user has set stays, even if the list does not have it. */
  readonly allowsOther?: true
  /** The value that the configuration names for the agent; when it changes it replaces what the user has set. */
  readonly configuredValue?: string
  /** All of them in groups, or none. */
  readonly options: readonly Choice[] | readonly ChoiceGroup[]
}

export interface BooleanOption extends OptionBase {
  readonly type: 'boolean'
  readonly currentValue: boolean
}

export type ConfigOption = SelectOption | BooleanOption

export interface Choice {
  readonly value: string
  readonly name: string
  readonly description?: string
  readonly meta?: Meta
}

export interface ChoiceGroup {
  readonly group: string
  readonly name: string
  readonly options: readonly Choice[]
  readonly meta?: Meta
}

/** How an agent is set now. */
export interface Settings {
  /** Null for an agent without modes. */
  readonly modes: Modes | null
  readonly configOptions: readonly ConfigOption[]
}

/** A value that an option can have. */
export type ConfigValue = ConfigOption['currentValue']
