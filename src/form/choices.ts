/** The options of a field: bare ones, or ones with titles. */

export interface FormChoice {
  readonly value: string
  /** The title that users see. */
  readonly title: string
}

/** Undefined where anything goes. */
export function choicesOf(described: unknown): readonly FormChoice[] | undefined {
  if (!isFields(described)) return undefined
  const { enum: bare, enumNames, oneOf, anyOf } = described
  if (isTexts(bare)) {
    const names = isTexts(enumNames) ? enumNames : []
    return bare.map((value, index) => ({ value, title: names[index] ?? value }))
  }
  const titled = oneOf ?? anyOf ?? undefined
  return Array.isArray(titled) ? titled.flatMap(titledChoice) : undefined
}

function titledChoice(option: unknown): readonly FormChoice[] {
  if (!isFields(option)) return []
  const { const: value, title } = option
  return typeof value === 'string' ? [{ value, title: typeof title === 'string' ? title : value }] : []
}

export function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}
