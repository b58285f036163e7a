/** Checks arguments and results of a server's tools against its schemas: cheap checks at once, others in a thread. */
import { reasonOf } from '../../errors/parley-error.ts'
import { type JsonObject, isObject } from './json.ts'
import { type Checker, CheckTooLong } from './checker.ts'
import { compileSchema, type SchemaCheck } from './schema.ts'

/** A larger value is not checked: copying it to a thread would take too long. In parts; 64 characters count as one. */
const MAX_VALUE_PARTS = 100_000
/** After so many schemas that took too long, costly schemas of the same server are not checked any more. */
const MAX_SLOW_SCHEMAS = 3

let lastKey = 0

/** The schemas of one server. */
export class Schemas {
  readonly #checker: Checker
  readonly #onFault: (what: string, fault: string) => void
  readonly #known = new WeakMap<JsonObject, KnownSchema>()
  #slow = 0

  /** `onFault` is called once for each schema that is invalid or takes too long; such a schema accepts every value. */
  constructor(checker: Checker, onFault: (what: string, fault: string) => void) {
    this.#checker = checker
    this.#onFault = onFault
  }

  /** Why `value` does not match; undefined if it does, or if the schema cannot be used. */
  async check(schema: JsonObject, value: unknown, what: string): Promise<string | undefined> {
    const known = this.#known.get(schema) ?? this.#meet(schema, what)
    if (known.inline !== undefined && isCheapCheck(schema, value)) return known.inline(value)
    if (known.isGivenUp || this.#slow >= MAX_SLOW_SCHEMAS) return undefined
    if (sizeOf(value, { limit: MAX_VALUE_PARTS, textStep: 64 }) > MAX_VALUE_PARTS) return undefined
    try {
      const { wrong, fault } = await this.#checker.checkSchema({ key: known.key, schema, value }, this)
      if (fault !== undefined) this.#tell(known, what, fault)
      return wrong
    } catch (error) {
      this.#failed(known, what, error)
      return undefined
    }
  }

  #meet(schema: JsonObject, what: string): KnownSchema {
    lastKey += 1
    const known: KnownSchema = { key: lastKey, inline: undefined, isGivenUp: false, isTold: false }
    this.#known.set(schema, known)
    if (!isCheapSchema(schema)) return known
    const { check, fault } = compileSchema(schema)
    if (fault !== undefined) this.#tell(known, what, fault)
    known.inline = check
    return known
  }

  #failed(known: KnownSchema, what: string, error: unknown): void {
    if (error instanceof CheckTooLong) {
      if (error.isOwnFault) this.#slow += 1
      known.isGivenUp = error.isOwnFault
      return this.#tell(known, what, `it could not be checked in time: ${error.message}`)
    }
    known.isGivenUp = true
    this.#tell(known, what, reasonOf(error))
  }

  #tell(known: KnownSchema, what: string, fault: string): void {
    if (!known.isTold) this.#onFault(what, fault)
    known.isTold = true
  }
}

interface KnownSchema {
  /** The schema's key in the threads. */
  readonly key: number
  inline: SchemaCheck | undefined
  isGivenUp: boolean
  isTold: boolean
}

/** Parts and characters of a schema that is checked without a thread. */
const MAX_CHEAP_SCHEMA = 8_000
/** Parts of a schema times parts of a value. AJV records each mismatch, which costs more than the comparison. */
const MAX_CHEAP_STEPS = 500_000
/** The number of characters of a string that cost as much as one part of a value. */
const CHARS_PER_PART = 64

/** Keywords whose check costs at most the size of the schema times the size of the value. */
const LINEAR = new Set(
  `$schema $comment title description default examples deprecated readOnly writeOnly type enum const minimum maximum
  exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems minProperties maxProperties required`.split(
    /\s+/u,
  ),
)
const SCHEMAS = new Set(['items', 'additionalProperties', 'not', 'if', 'then', 'else', 'contains', 'propertyNames'])
const LISTS = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems'])

/**
 * Without references, every part of a schema is applied at most once to each part of a value. Schemas with other keywords, above all
 * `$ref`, `pattern`, `patternProperties`, `format`, `uniqueItems` and `$id`, are checked in a thread.
 */
export function isCheapSchema(schema: JsonObject): boolean {
  return sizeOf(schema, { limit: MAX_CHEAP_SCHEMA, textStep: 1 }) <= MAX_CHEAP_SCHEMA && isLinear(schema)
}

/** Whether `value` is small enough to be checked without a thread against this cheap schema. */
export function isCheapCheck(schema: JsonObject, value: unknown): boolean {
  const limit = MAX_CHEAP_STEPS / sizeOf(schema, { limit: MAX_CHEAP_SCHEMA, textStep: 1 })
  return sizeOf(value, { limit, textStep: CHARS_PER_PART }) <= limit
}

interface Counting {
  /** Counting stops above it. */
  readonly limit: number
  /** Characters of a string that count as one part. */
  readonly textStep: number
}

/** Counts values, strings and names. */
function sizeOf(value: unknown, { limit, textStep }: Counting): number {
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

/** Only called for schemas of bounded size, so the recursion is bounded too. */
function isLinear(schema: unknown): boolean {
  if (!isObject(schema)) return true
  return Object.entries(schema).every(([key, value]) => {
    if (LINEAR.has(key)) return true
    if (key === 'properties') return isObject(value) && Object.values(value).every(isLinear)
    if (LISTS.has(key)) return Array.isArray(value) && value.every(isLinear)
    return SCHEMAS.has(key) && isLinear(value)
  })
}
