/** The fields of a form in their order, as a terminal asks for them one by one. */
import { type FormChoice, choicesOf, isFields, isTexts } from '../../../form/choices.ts'
import { type FieldValue, fitOf, formatOf } from '../../../form/validate-field.ts'

type Fields = Readonly<Record<string, unknown>>

export interface Field {
  readonly name: string
  readonly kind: 'text' | 'number' | 'yes or no' | 'one' | 'several'
  readonly title: string
  readonly description: string | undefined
  readonly required: boolean
  /** Those of a field of kind `one` or `several`. */
  readonly choices: readonly FormChoice[]
  /** The value of an empty answer; absent if the form's default does not fit. */
  readonly preset: FieldValue | undefined
  /** As the form describes it. */
  readonly property: Fields
}

/** Undefined for a form with something in it that cannot be asked for. */
export function fieldsIn({ properties = {}, required }: Fields): readonly Field[] | undefined {
  if (!isFields(properties)) return undefined
  const names = isTexts(required) ? required : []
  const fields = Object.entries(properties).map(([name, property]) =>
    isFields(property) ? fieldIn(name, property, names.includes(name)) : undefined,
  )
  return fields.every((field) => field !== undefined) ? fields : undefined
}

function fieldIn(name: string, property: Fields, required: boolean): Field | undefined {
  const choices = choicesOf(property['type'] === 'array' ? property['items'] : property) ?? []
  const kind = kindOf(property, choices)
  if (kind === undefined) return undefined
  const { title, description, default: preset } = property
  const fit = fitOf(property, preset)
  return {
    name,
    kind,
    title: typeof title === 'string' && title.trim() !== '' ? title : name,
    description: typeof description === 'string' && description.trim() !== '' ? description : undefined,
    required,
    choices,
    preset: 'value' in fit ? fit.value : undefined,
    property,
  }
}

function kindOf({ type }: Fields, choices: readonly FormChoice[]): Field['kind'] | undefined {
  switch (type) {
    case 'string':
      return choices.length > 0 ? 'one' : 'text'
    case 'array':
      return choices.length > 0 ? 'several' : undefined
    case 'boolean':
      return 'yes or no'
    case 'number':
    case 'integer':
      return 'number'
    default:
      return undefined
  }
}

/** The form's requirements for an answer; empty when there are none. */
export function hintOf({ kind, property }: Field): string {
  switch (kind) {
    case 'yes or no':
      return 'y or n'
    case 'one':
      return 'a number of these'
    case 'several':
      return ['numbers of these, separated by commas', range(property['minItems'], property['maxItems'], '')]
        .filter((part) => part !== '')
        .join(', ')
    case 'number':
      return [property['type'] === 'integer' ? 'a whole number' : 'a number', limits(property)]
        .filter((part) => part !== '')
        .join(' ')
    case 'text':
      return textHint(property)
  }
}

function limits({ minimum, maximum }: Fields): string {
  if (typeof minimum === 'number' && typeof maximum === 'number') return `from ${minimum} to ${maximum}`
  if (typeof minimum === 'number') return `from ${minimum}`
  return typeof maximum === 'number' ? `up to ${maximum}` : ''
}

function textHint({ minLength, maxLength, pattern, format }: Fields): string {
  const known = typeof format === 'string' ? formatOf(format) : undefined
  return [
    known === undefined ? '' : `such as ${known.example}`,
    range(minLength, maxLength, ' characters'),
    typeof pattern === 'string' ? `of the form ${pattern}` : '',
  ]
    .filter((part) => part !== '')
    .join(', ')
}

function range(least: unknown, most: unknown, what: string): string {
  const from = typeof least === 'number' && least > 0 ? least : undefined
  if (from !== undefined && typeof most === 'number') return `${from} to ${most}${what}`
  if (from !== undefined) return `at least ${from}${what}`
  return typeof most === 'number' ? `at most ${most}${what}` : ''
}

/** A value as users read it: titles for options, yes and no. */
export function shownValue({ choices }: Field, value: FieldValue | undefined): string {
  if (value === undefined) return '(empty)'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  const titleOf = (one: string) => choices.find((choice) => choice.value === one)?.title ?? one
  if (typeof value === 'string') return titleOf(value)
  if (typeof value === 'number') return String(value)
  return value.length === 0 ? '(none)' : value.map(titleOf).join(', ')
}
