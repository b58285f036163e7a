/** The fields of a form in their order, from the flat JSON Schema that a server sends. */
import { type FormChoice, choicesOf, isFields, isTexts } from './choices.ts'
import { type FieldValue, fitOf } from './validate-field.ts'

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
  const kind = fieldKind(property, choices)
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

function fieldKind({ type }: Fields, choices: readonly FormChoice[]): Field['kind'] | undefined {
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
