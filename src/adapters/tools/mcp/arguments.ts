/** Checks arguments against a tool's schema before anything is sent, and lets them pass where the schema is at fault. */
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv'
import { reasonOf } from '../../../errors/parley-error.ts'
import { isObject, type JsonObject } from './json.ts'

export interface Schemas {
  /** What is wrong with `value`, or undefined when nothing is or the schema cannot say. */
  check(schema: JsonObject, value: unknown, what: string): string | undefined
}

/** Compiles each schema when it is first needed; `onFault` hears once of each that is wrong itself. */
export function openSchemas(onFault: (what: string, fault: string) => void): Schemas {
  const compiled = new WeakMap<JsonObject, Check>()
  return {
    check(schema, value, what) {
      let check = compiled.get(schema)
      if (check === undefined) {
        const made = compile(schema)
        if (made.fault !== undefined) onFault(what, made.fault)
        check = made.check
        compiled.set(schema, check)
      }
      return check(value)
    },
  }
}

/** Models fill in what they have no value for; null for what need not be there is checked as if it were not. */
export function withoutIdleNulls(args: JsonObject, { required }: JsonObject): JsonObject {
  const needed: readonly unknown[] = Array.isArray(required) ? required : []
  return Object.fromEntries(Object.entries(args).filter(([key, value]) => value !== null || needed.includes(key)))
}

type Check = (value: unknown) => string | undefined

function compile(schema: JsonObject): { readonly check: Check; readonly fault?: string } {
  const { relaxed, contradictions } = relax(schema)
  try {
    // One validator for each schema: two that carry the same `$id` must not meet.
    const validate = new AjvJsonSchemaValidator().getValidator(relaxed)
    const check: Check = (value) => {
      const outcome = validate(value)
      return outcome.valid ? undefined : outcome.errorMessage.replaceAll(/(^|, )data(?=[/ ])/g, '$1they')
    }
    return contradictions.length === 0 ? { check } : { check, fault: contradictions.join('; ') }
  } catch (error) {
    return { check: () => undefined, fault: reasonOf(error) }
  }
}

const LONGEST_PATTERN = 500

interface Relaxed {
  readonly relaxed: JsonObject
  readonly contradictions: readonly string[]
}

/** Where names of the user's own choosing stand, whose values are schemas. */
const MAPS = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'])
/** Where values stand that only look like schemas. */
const LITERALS = new Set(['enum', 'const', 'default', 'examples', 'required'])

/**
 * A schema whose `enum` has no value of its `type` refuses everything. Either half of it is taken as what was meant,
 * so that the rest of the schema still counts.
 */
function relax(schema: JsonObject): Relaxed {
  const contradictions: string[] = []
  const relaxed = relaxSchema(schema, '', contradictions) as JsonObject
  return { relaxed, contradictions }
}

function relaxSchema(schema: unknown, path: string, found: string[]): unknown {
  if (Array.isArray(schema)) return schema.map((entry, index) => relaxSchema(entry, `${path}/${index}`, found))
  if (!isObject(schema)) return schema
  const entries = Object.entries(schema).map(([key, value]) => [key, relaxEntry(key, value, { path, found })])
  const inner = Object.fromEntries(entries) as JsonObject
  if (!contradicts(schema)) return inner
  found.push(`${path || '/'} wants type ${JSON.stringify(schema.type)} but its enum has no such value`)
  const { type, enum: values, ...rest } = inner
  return {
    ...rest,
    anyOf: [{ type }, { enum: values }],
    ...(rest.anyOf !== undefined && { allOf: [...allOf(rest), { anyOf: rest.anyOf }] }),
  }
}

function allOf(schema: JsonObject): readonly unknown[] {
  return Array.isArray(schema.allOf) ? schema.allOf : []
}

function relaxEntry(
  key: string,
  value: unknown,
  { path, found }: { readonly path: string; readonly found: string[] },
): unknown {
  if (LITERALS.has(key)) return value
  if (key === 'pattern' && isRisky(value)) return '.*'
  if (!MAPS.has(key) || !isObject(value)) return relaxSchema(value, `${path}/${key}`, found)
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, relaxSchema(inner, `${path}/${key}/${name}`, found)]),
  )
}

/** What repeats something that repeats can take for ever, whoever chose the text; such a pattern is not looked at. */
function isRisky(pattern: unknown): boolean {
  return typeof pattern === 'string' && (pattern.length > LONGEST_PATTERN || /[*+}]\)*\)[*+{]/.test(pattern))
}

function contradicts({ type, enum: values }: JsonObject): boolean {
  if (!Array.isArray(values) || values.length === 0) return false
  const types = typeof type === 'string' ? [type] : Array.isArray(type) ? type : []
  return types.length > 0 && !values.some((value) => types.some((one) => isOfType(value, one)))
}

function isOfType(value: unknown, type: unknown): boolean {
  if (type === 'null') return value === null
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return isObject(value)
  if (type === 'integer') return Number.isInteger(value)
  return typeof value === type
}
