/** Which schemas are certain to be checked in no time, so that no thread is needed for them. */
import { isObject, type JsonObject } from './json.ts'

/** Parts and characters of a schema. */
const MOST_SCHEMA = 8_000
/** Parts of a schema times parts of a value: AJV notes each mismatch, which costs more than the comparison. */
const MOST_STEPS = 500_000
/** Characters of a text that cost as much as one part of a value. */
const TEXT_STEP = 64

/** Keywords whose check costs at most the size of the schema times that of the value, wherever they stand. */
const LINEAR = new Set(
  `$schema $comment title description default examples deprecated readOnly writeOnly type enum const minimum maximum
  exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems minProperties maxProperties required`.split(
    /\s+/u,
  ),
)
const SCHEMAS = new Set(['items', 'additionalProperties', 'not', 'if', 'then', 'else', 'contains', 'propertyNames'])
const LISTS = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems'])

/**
 * Without references every part of a schema is tried at most once on each part of a value. What is left out here, above all
 * `$ref`, `pattern`, `patternProperties`, `format`, `uniqueItems` and `$id`, is checked in a thread.
 */
export function isCheapSchema(schema: JsonObject): boolean {
  return sizeOf(schema, { limit: MOST_SCHEMA, textStep: 1 }) <= MOST_SCHEMA && isLinear(schema)
}

/** Whether `value` is small enough to be checked at once against this schema, which is a cheap one. */
export function isCheapCheck(schema: JsonObject, value: unknown): boolean {
  const limit = MOST_STEPS / sizeOf(schema, { limit: MOST_SCHEMA, textStep: 1 })
  return sizeOf(value, { limit, textStep: TEXT_STEP }) <= limit
}

interface Counting {
  /** Counting ends above it. */
  readonly limit: number
  /** Characters that count as one. */
  readonly textStep: number
}

/** Values, texts and names. */
export function sizeOf(value: unknown, { limit, textStep }: Counting): number {
  let size = 0
  const waiting: unknown[] = [value]
  while (waiting.length > 0 && size <= limit) {
    const next = waiting.pop()
    size += 1
    if (typeof next === 'string') size += next.length / textStep
    else if (Array.isArray(next)) for (let at = 0; at < next.length && at <= limit; at += 1) waiting.push(next[at])
    else if (isObject(next)) {
      const members = Object.entries(next)
      size += members.reduce((sum, [name]) => sum + name.length / textStep, 0)
      for (const [, member] of members) waiting.push(member)
    }
  }
  return size
}

/** Only called for schemas of a bounded size, so that it cannot go too deep. */
function isLinear(schema: unknown): boolean {
  if (!isObject(schema)) return true
  return Object.entries(schema).every(([key, value]) => {
    if (LINEAR.has(key)) return true
    if (key === 'properties') return isObject(value) && Object.values(value).every(isLinear)
    if (LISTS.has(key)) return Array.isArray(value) && value.every(isLinear)
    return SCHEMAS.has(key) && isLinear(value)
  })
}
