/** Compiles the schema of a server with AJV. An invalid schema accepts every value. */
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv'
import { reasonOf } from '../../errors/parley-error.ts'
import { isObject, type JsonObject } from './json.ts'

/** Returns why a value does not match, or undefined if it does. */
export type SchemaCheck = (value: unknown) => string | undefined

export interface CompiledSchema {
  readonly check: SchemaCheck
  /** Why the schema itself is invalid, if it is. */
  readonly fault?: string
}

/** AJV reports every mismatch; the first ones are enough. */
const MAX_REASON_CHARS = 1_000

/** May take exponential time and memory, and so may the check: run both in a thread that can be ended, see checker.ts. */
export function compileSchema(schema: JsonObject): CompiledSchema {
  const { relaxed, contradictions } = relax(schema)
  try {
    // One validator per schema, because two schemas may have the same `$id`.
    const validate = new AjvJsonSchemaValidator().getValidator(relaxed)
    const check: SchemaCheck = (value) => {
      const outcome = validate(value)
      if (outcome.valid) return undefined
      return outcome.errorMessage.slice(0, MAX_REASON_CHARS).replaceAll(/(^|, )data(?=[/ ])/g, '$1they')
    }
    return contradictions.length === 0 ? { check } : { check, fault: contradictions.join('; ') }
  } catch (error) {
    return { check: () => undefined, fault: reasonOf(error) }
  }
}

interface Relaxed {
  readonly relaxed: JsonObject
  readonly contradictions: readonly string[]
}

/** Keywords whose value maps arbitrary names to schemas. */
const MAPS = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'])
/** Keywords whose values are not schemas, even if they look like one. */
const LITERALS = new Set(['enum', 'const', 'default', 'examples', 'required'])

/**
 * A schema whose `enum` has no value of its `type` would reject everything. A value that satisfies either is accepted instead, so that
 * the rest of the schema still counts.
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
  if (!MAPS.has(key) || !isObject(value)) return relaxSchema(value, `${path}/${key}`, found)
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, relaxSchema(inner, `${path}/${key}/${name}`, found)]),
  )
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
