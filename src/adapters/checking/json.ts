/** Type guards for JSON values that were not validated yet. */

export type JsonObject = Readonly<Record<string, unknown>>

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function nonEmptyText(object: JsonObject, key: string): string | undefined {
  const value = object[key]
  return typeof value === 'string' && value !== '' ? value : undefined
}
