/** Reads the fields of a script's line; what is not as it must be is told in words. */

export type Fields = Readonly<Record<string, unknown>>

export function object(value: unknown, what: string): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields
  throw new Error(`${what} must be an object`)
}

export function list(value: unknown, what: string): readonly unknown[] {
  if (Array.isArray(value)) return value as readonly unknown[]
  throw new Error(`${what} must be a list`)
}

export function text(fields: Fields, key: string): string {
  const value = fields[key]
  if (typeof value === 'string') return value
  throw new Error(`${key} must be a text`)
}

export function optionalText(value: unknown, key: string): string | undefined {
  if (value === undefined || typeof value === 'string') return value
  throw new Error(`${key} must be a text`)
}

export function whole(fields: Fields, key: string, otherwise?: number): number {
  const value = fields[key] ?? otherwise
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  throw new Error(`${key} must be a whole number from 0`)
}

export function oneOf<Value extends string>(known: readonly Value[], value: unknown, key: string): Value {
  const found = known.find((candidate) => candidate === value)
  if (found === undefined) throw new Error(`${key} must be one of ${known.join(', ')}`)
  return found
}

/** What the standard leaves out of a shape nobody may add to it; `_meta` is for that. */
export function only(fields: Fields, known: readonly string[], what: string): Fields {
  const odd = Object.keys(fields).find((key) => key !== '_meta' && !known.includes(key))
  if (odd !== undefined) throw new Error(`${what} has no field ${odd}`)
  if (isGiven(fields['_meta'])) object(fields['_meta'], '_meta')
  return fields
}

/** `_meta`, as scripts write it, is `meta` inside. */
export function withMeta({ _meta, ...fields }: Fields): Fields {
  return isGiven(_meta) ? { ...fields, meta: _meta } : fields
}

/** The fields that are there: null is as good as absent. */
export function given(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => isGiven(value)))
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null
}
