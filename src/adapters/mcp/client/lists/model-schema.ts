/** Rewrites a schema of arguments into a form that every model provider accepts, or says why that is impossible. */

type JsonObject = Readonly<Record<string, unknown>>

/** `unsupported` is the reason why models do not get the tool: one schema that a provider refuses would fail the whole turn. */
type ModelSchema = { readonly schema: JsonObject } | { readonly unsupported: string }

/** Keywords that all providers understand. Parley checks the other keywords itself before it sends a call. */
const KEPT_KEYWORDS = [
  'title',
  'description',
  'format',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
]
const PROPERTY_NAME = /^[A-Za-z0-9_.-]{1,64}$/
/** Depths at which a recursive schema becomes "anything"; a smaller depth is tried when the schema branches too much. */
const DEPTHS = [12, 6, 3, 1]
/** References followed in a row, and nested parts of one object. */
const MAX_CHAIN = 12
/** Limit of members in one unfolded schema. */
const MAX_SCHEMA_MEMBERS = 20_000
/** Limit of members in all unfolded schemas of one list. */
const MAX_LIST_MEMBERS = 400_000

/** Counts the members that unfolding the schemas of one list produced. */
export class UnfoldingBudget {
  #left = MAX_LIST_MEMBERS

  get isSpent(): boolean {
    return this.#left <= 0
  }

  spend(members: number): void {
    this.#left -= members
  }
}

export function forModels(schema: JsonObject, budget = new UnfoldingBudget()): ModelSchema {
  for (const deepest of DEPTHS) {
    if (budget.isSpent) return { unsupported: 'the schemas of this server refer to themselves too often' }
    try {
      return { schema: unfold(schema, new Unfolding(schema, deepest, budget)) }
    } catch (error) {
      if (error instanceof Unsupported) return { unsupported: error.message }
      if (!(error instanceof TooLarge)) throw error
    }
  }
  return { unsupported: 'its schema refers to itself too often' }
}

class Unsupported extends Error {}
class TooLarge extends Error {}

/** Unfolds the references of one schema. Each step may double its size, so the members are counted. */
class Unfolding {
  readonly root: JsonObject
  readonly deepest: number
  readonly #budget: UnfoldingBudget
  #members = 0

  constructor(root: JsonObject, deepest: number, budget: UnfoldingBudget) {
    this.root = root
    this.deepest = deepest
    this.#budget = budget
  }

  /** Call it for each object that is read. Throws TooLarge. */
  count(object: JsonObject): void {
    const members = 1 + Object.keys(object).length
    this.#members += members
    this.#budget.spend(members)
    if (this.#members > MAX_SCHEMA_MEMBERS) throw new TooLarge()
  }
}

interface UnfoldPosition {
  readonly unfolding: Unfolding
  readonly depth: number
}

function unfold(schema: JsonObject, unfolding: Unfolding): JsonObject {
  const where: UnfoldPosition = { unfolding, depth: 0 }
  const root = merged(resolve(schema, where), where)
  const properties = isObject(root.properties) ? rewriteProperties(root.properties, where) : {}
  return { ...rewrite(root, where), type: 'object', properties }
}

function rewrite(given: unknown, { unfolding, depth }: UnfoldPosition): JsonObject {
  if (!isObject(given) || depth > unfolding.deepest) return {}
  const deeper = { unfolding, depth: depth + 1 }
  const schema = resolve(given, deeper)
  const out: Record<string, unknown> = {}
  for (const key of KEPT_KEYWORDS) if (schema[key] !== undefined) out[key] = schema[key]
  Object.assign(out, typesOf(schema))
  if (isObject(schema.properties)) out.properties = rewriteProperties(schema.properties, deeper)
  if (isObject(schema.properties) && Array.isArray(schema.required))
    out.required = named(schema.required, schema.properties)
  if (schema.items !== undefined || out.type === 'array') out.items = rewrite(itemsOf(schema), deeper)
  const choices = choicesOf(schema)
  if (choices.length > 0) out.anyOf = choices.map((choice) => rewrite(choice, deeper))
  return out
}

/** One type for each schema; `null` beside it is dropped, because a nullable value is simply not required. */
function typesOf({ type, enum: values, const: only }: JsonObject): JsonObject {
  const types = [type].flat().filter((one) => typeof one === 'string' && one !== 'null')
  const allowed = only === undefined ? values : [only]
  const texts = Array.isArray(allowed) ? allowed.filter((value) => typeof value === 'string') : []
  // Some providers accept only strings in an enum, and none accepts an enum that contradicts the type.
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

function rewriteProperties(properties: JsonObject, where: UnfoldPosition): JsonObject {
  where.unfolding.count(properties)
  const bad = Object.keys(properties).find((name) => !PROPERTY_NAME.test(name))
  if (bad !== undefined)
    throw new Unsupported(`its argument ${JSON.stringify(bad.slice(0, 80))} has a name that models cannot use`)
  return Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, rewrite(inner, where)]))
}

/** Arguments are one object: alternatives and parts beside the root are merged into it. */
function merged(schema: JsonObject, { unfolding, depth }: UnfoldPosition): JsonObject {
  if (depth > unfolding.deepest) return {}
  const deeper = { unfolding, depth: depth + 1 }
  const all = listOf(schema.allOf, deeper).map((part) => merged(part, deeper))
  const some = [...listOf(schema.anyOf, deeper), ...listOf(schema.oneOf, deeper)].map((part) => merged(part, deeper))
  const { allOf: _all, anyOf: _any, oneOf: _one, enum: _enum, const: _const, not: _not, ...own } = schema
  const parts = [own, ...all]
  const properties = Object.assign({}, ...[...some, ...parts].map((part) => objectOf(part.properties))) as JsonObject
  unfolding.count(properties)
  const needed = parts.flatMap((part) => (Array.isArray(part.required) ? (part.required as readonly unknown[]) : []))
  const everywhere = some.map((part) => new Set(Array.isArray(part.required) ? part.required : []))
  const shared = [...(everywhere[0] ?? [])].filter((name) => everywhere.every((one) => one.has(name)))
  return { ...own, type: 'object', properties, required: [...new Set([...needed, ...shared])] }
}

function listOf(value: unknown, where: UnfoldPosition): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject).map((one) => resolve(one, where)) : []
}

/** Only references within the schema are resolved; nothing is ever fetched. */
function resolve(schema: JsonObject, { unfolding }: UnfoldPosition): JsonObject {
  let found: unknown = schema
  unfolding.count(schema)
  for (let steps = 0; isObject(found) && typeof found.$ref === 'string'; steps++) {
    const { $ref, ...beside } = found
    if (!$ref.startsWith('#') || steps > MAX_CHAIN)
      throw new Unsupported('its schema refers to something outside itself')
    const target = lookUp($ref, unfolding.root)
    if (!isObject(target)) throw new Unsupported('its schema refers to something that is not there')
    unfolding.count(target)
    found = { ...target, ...beside }
  }
  return found as JsonObject
}

function lookUp(reference: string, root: JsonObject): unknown {
  const steps = decoded(reference.slice(1)).split('/').slice(1)
  return steps.reduce<unknown>(
    (at, step) => (isObject(at) ? at[step.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined),
    root,
  )
}

function decoded(fragment: string): string {
  try {
    return decodeURIComponent(fragment)
  } catch {
    // A lone percent sign stands for itself.
    return fragment
  }
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
