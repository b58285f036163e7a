/** Rewrites a schema of arguments into what every provider of models accepts, or says why that cannot be done. */

type JsonObject = Readonly<Record<string, unknown>>

/** `unfit` is why the tool is kept from models: one schema that a provider refuses would cost the whole turn. */
export type ModelSchema = { readonly schema: JsonObject } | { readonly unfit: string }

/** Words that all of them understand; what the others say is checked by us before a call goes out. */
const KEPT = ['title', 'description', 'format', 'minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems']
const PROPERTY_NAME = /^[A-Za-z0-9_.-]{1,64}$/
/** A schema that refers to itself has no end; so deep it becomes "anything". */
const DEEPEST = 12

export function forModels(schema: JsonObject): ModelSchema {
  try {
    const root = merged(resolve(schema, schema), schema)
    return {
      schema: {
        ...rewrite(root, { root: schema, depth: 0 }),
        type: 'object',
        properties: objectOf(rewriteAll(root, schema)),
      },
    }
  } catch (error) {
    if (error instanceof Unfit) return { unfit: error.message }
    throw error
  }
}

class Unfit extends Error {}

interface Where {
  /** Where references lead. */
  readonly root: JsonObject
  readonly depth: number
}

function rewriteAll({ properties }: JsonObject, root: JsonObject): unknown {
  return isObject(properties) ? rewriteProperties(properties, { root, depth: 0 }) : {}
}

function rewrite(given: unknown, { root, depth }: Where): JsonObject {
  if (!isObject(given) || depth > DEEPEST) return {}
  const schema = resolve(given, root)
  const deeper = { root, depth: depth + 1 }
  const out: Record<string, unknown> = {}
  for (const key of KEPT) if (schema[key] !== undefined) out[key] = schema[key]
  Object.assign(out, typesOf(schema))
  if (isObject(schema.properties)) out.properties = rewriteProperties(schema.properties, deeper)
  if (isObject(schema.properties) && Array.isArray(schema.required))
    out.required = named(schema.required, schema.properties)
  if (schema.items !== undefined || out.type === 'array') out.items = rewrite(itemsOf(schema), deeper)
  const choices = choicesOf(schema)
  if (choices.length > 0) out.anyOf = choices.map((choice) => rewrite(choice, deeper))
  return out
}

/** One type for each schema; a value that may be absent is simply not required. */
function typesOf({ type, enum: values, const: only }: JsonObject): JsonObject {
  const types = [type].flat().filter((one) => typeof one === 'string' && one !== 'null')
  const allowed = only === undefined ? values : [only]
  const texts = Array.isArray(allowed) ? allowed.filter((value) => typeof value === 'string') : []
  // Some take only texts in an enum, and none takes one that contradicts its type.
  const listed =
    texts.length > 0 && (types.length === 0 || types.includes('string')) ? { type: 'string', enum: texts } : {}
  if (types.length <= 1) return { ...(types.length === 1 && { type: types[0] }), ...listed }
  return { anyOf: types.map((one) => ({ type: one })) }
}

function choicesOf({ anyOf, oneOf }: JsonObject): readonly unknown[] {
  const choices = [anyOf, oneOf].find(Array.isArray) as readonly unknown[] | undefined
  return (choices ?? []).filter((choice) => !(isObject(choice) && choice.type === 'null'))
}

function itemsOf({ items, prefixItems }: JsonObject): unknown {
  if (isObject(items)) return items
  return Array.isArray(prefixItems) ? { anyOf: prefixItems } : {}
}

function rewriteProperties(properties: JsonObject, where: Where): JsonObject {
  const bad = Object.keys(properties).find((name) => !PROPERTY_NAME.test(name))
  if (bad !== undefined)
    throw new Unfit(`its argument ${JSON.stringify(bad.slice(0, 80))} has a name that models cannot use`)
  return Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, rewrite(inner, where)]))
}

/** Arguments are one object: what stands beside or below the root in pieces is put together there. */
function merged(schema: JsonObject, root: JsonObject): JsonObject {
  const all = listOf(schema.allOf, root).map((part) => merged(part, root))
  const some = [...listOf(schema.anyOf, root), ...listOf(schema.oneOf, root)].map((part) => merged(part, root))
  const { allOf: _all, anyOf: _any, oneOf: _one, enum: _enum, const: _const, not: _not, ...own } = schema
  const parts = [own, ...all]
  const properties = Object.assign({}, ...[...some, ...parts].map((part) => objectOf(part.properties))) as JsonObject
  const needed = parts.flatMap((part) => (Array.isArray(part.required) ? (part.required as readonly unknown[]) : []))
  const everywhere = some.map((part) => new Set(Array.isArray(part.required) ? part.required : []))
  const shared = [...(everywhere[0] ?? [])].filter((name) => everywhere.every((one) => one.has(name)))
  return { ...own, type: 'object', properties, required: [...new Set([...needed, ...shared])] }
}

function listOf(value: unknown, root: JsonObject): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject).map((one) => resolve(one, root)) : []
}

/** Only what stands in the schema itself is looked up: nothing is ever fetched. */
function resolve(schema: JsonObject, root: JsonObject): JsonObject {
  let found: unknown = schema
  for (let steps = 0; isObject(found) && typeof found.$ref === 'string'; steps++) {
    const { $ref, ...beside } = found
    if (!$ref.startsWith('#') || steps > DEEPEST) throw new Unfit('its schema refers to something outside itself')
    const target = lookUp($ref, root)
    if (!isObject(target)) throw new Unfit('its schema refers to something that is not there')
    found = { ...target, ...beside }
  }
  return found as JsonObject
}

function lookUp(reference: string, root: JsonObject): unknown {
  const steps = decodeURIComponent(reference.slice(1)).split('/').slice(1)
  return steps.reduce<unknown>(
    (at, step) => (isObject(at) ? at[step.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined),
    root,
  )
}

function named(required: readonly unknown[], properties: JsonObject): readonly unknown[] {
  return required.filter((name) => typeof name === 'string' && Object.hasOwn(properties, name))
}

function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
