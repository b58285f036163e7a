/** Finds keys that the official schema has no word for, at any depth: what is beyond the standard belongs into `_meta`. */
import { type Schema, definitions } from '../../e2e/schema.ts'

/** Where keys stand that nobody defined, like `update.content.colour`. */
export function strangeKeys(type: string, value: unknown): readonly string[] {
  const schema = definitions[type]
  return schema === undefined ? [] : strangeIn([schema], value, '')
}

function strangeIn(schemas: readonly Schema[], value: unknown, at: string): readonly string[] {
  const all = schemas.flatMap(flattened)
  if (Array.isArray(value)) {
    const items = all.flatMap(({ items: one }) => (isSchema(one) ? [one] : []))
    return items.length === 0 ? [] : value.flatMap((part, index) => strangeIn(items, part, `${at}[${index}]`))
  }
  if (typeof value !== 'object' || value === null || all.some(isOpen)) return []
  return Object.entries(value).flatMap(([key, part]) => {
    const known = all.flatMap(({ properties }) => (isSchema(properties) && key in properties ? [properties[key]] : []))
    const place = at === '' ? key : `${at}.${key}`
    return known.length === 0 ? [place] : strangeIn(known.filter(isSchema), part, place)
  })
}

/** The schema and all that it is composed of, whichever branch may hold. */
function flattened(schema: Schema): readonly Schema[] {
  const { $ref, allOf, anyOf, oneOf } = schema
  const named = typeof $ref === 'string' ? [definitions[$ref.replace('#/$defs/', '')]] : []
  const parts = [...named, ...[allOf, anyOf, oneOf].flatMap((one) => (Array.isArray(one) ? (one as Schema[]) : []))]
  return [schema, ...parts.filter(isSchema).flatMap(flattened)]
}

/** It says nothing of keys, or allows any. */
function isOpen({ additionalProperties, properties, $ref, allOf, anyOf, oneOf, type, not }: Schema): boolean {
  if (additionalProperties === true || isSchema(additionalProperties)) return true
  return [properties, $ref, allOf, anyOf, oneOf, not, type].every((one) => one === undefined)
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null
}
