/** The forms that a person may be asked to fill in, and whether what came back is as the form has it. Flat, as ACP allows them. */
import { fail } from '../errors/parley-error.ts'
import type { ElicitedValue } from '../ports/elicitation.ts'
import { matches, regularExpression } from './pattern.ts'

type Fields = Readonly<Record<string, unknown>>

/** Throws ELICITATION_INVALID with what is wrong and where. */
export function requireForm(schema: Fields): void {
  const { type = 'object', properties = {}, required = [] } = schema
  if (type !== 'object') return refuse('a form is an object')
  if (!isFields(properties)) return refuse('its properties are not an object')
  for (const [name, property] of Object.entries(properties)) requireProperty(name, property)
  for (const name of isTexts(required) ? required : refuse('`required` is not a list of names'))
    if (!Object.hasOwn(properties, name)) refuse(`it requires “${name}”, which it does not have`)
}

/** What a person put in, without what was not asked for. Throws a sentence about the first value that does not fit. */
export function valuesIn(schema: Fields, content: unknown): Readonly<Record<string, ElicitedValue>> {
  const given = isFields(content) ? content : wrong('there are no values')
  const properties = isFields(schema['properties']) ? schema['properties'] : {}
  const required = isTexts(schema['required']) ? schema['required'] : []
  const values = Object.entries(properties).flatMap(([name, property]) => {
    // Some write null for what was left empty.
    const value = (Object.hasOwn(given, name) ? given[name] : undefined) ?? undefined
    if (value !== undefined) return [[name, valueOf(name, property as Fields, value)] as const]
    return required.includes(name) ? wrong(`“${name}” is missing`) : []
  })
  return Object.fromEntries(values)
}

/** Programs keep forms and what was put into them; a page of the web is where secrets belong. */
const SECRET = /\b(?:password|passwd|passphrase|secret|credential|api key|private key|access token|auth token)s?\b/iu

function requireProperty(name: string, property: unknown): void {
  if (!isFields(property)) return refuse(`“${name}” is not described`)
  const { type, title } = property
  if (type === 'string' && SECRET.test(`${inWords(name)} ${inWords(title)}`))
    refuse(`“${name}” is a secret, and a form must never ask for one`)
  switch (type) {
    case 'string':
      return requireText(name, property)
    case 'array':
      if (optionsOf(property['items']) === undefined) refuse(`“${name}” is a list of something other than options`)
      return
    case 'number':
    case 'integer':
    case 'boolean':
      return
    default:
      refuse(`“${name}” is neither a text, a number, a yes or no, nor a list of options`)
  }
}

/** `apiKey`, `api_key` and `api-key` are two words. */
function inWords(name: unknown): string {
  return typeof name === 'string' ? name.replace(/([a-z])([A-Z])/gu, '$1 $2').replace(/[_-]+/gu, ' ') : ''
}

function requireText(name: string, { pattern }: Fields): void {
  if (typeof pattern === 'string' && regularExpression(pattern) === undefined)
    refuse(`the pattern of “${name}” is no regular expression`)
}

function valueOf(name: string, property: Fields, value: unknown): ElicitedValue {
  switch (property['type']) {
    case 'string':
      return typeof value === 'string' ? text(name, property, value) : wrong(`“${name}” is not a text`)
    case 'boolean':
      return typeof value === 'boolean' ? value : wrong(`“${name}” is neither yes nor no`)
    case 'array':
      return isTexts(value) ? chosen(name, property, value) : wrong(`“${name}” is not a list of texts`)
    default:
      return typeof value === 'number' ? number(name, property, value) : wrong(`“${name}” is not a number`)
  }
}

function text(name: string, property: Fields, value: string): string {
  const { minLength, maxLength, pattern, format } = property
  // Lengths are counted in characters as people see them in a text, not in halves of them.
  const length = Array.from(value).length
  if (typeof minLength === 'number' && length < minLength) wrong(`“${name}” is shorter than ${minLength}`)
  if (typeof maxLength === 'number' && length > maxLength) wrong(`“${name}” is longer than ${maxLength}`)
  if (typeof pattern === 'string' && !matches(value, pattern)) wrong(`“${name}” is not of the form ${pattern}`)
  if (typeof format === 'string' && !FORMATS[format]?.test(value) && Object.hasOwn(FORMATS, format))
    wrong(`“${name}” is not written as ${format}`)
  const options = optionsOf(property)
  return options === undefined || options.includes(value) ? value : wrong(`“${name}” is none of its options`)
}

/** None of them can take long, however long the text. */
const FORMATS: Readonly<Record<string, RegExp>> = {
  email: /^[^\s@]+@[^\s@]+$/u,
  uri: /^[A-Za-z][A-Za-z0-9+.-]*:\S+$/u,
  date: /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/u,
  'date-time':
    /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])[Tt ]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2})$/u,
}

function number(name: string, { type, minimum, maximum }: Fields, value: number): number {
  if (!Number.isFinite(value)) wrong(`“${name}” is not a number`)
  if (type === 'integer' && !Number.isInteger(value)) wrong(`“${name}” is not a whole number`)
  if (typeof minimum === 'number' && value < minimum) wrong(`“${name}” is less than ${minimum}`)
  if (typeof maximum === 'number' && value > maximum) wrong(`“${name}” is more than ${maximum}`)
  return value
}

function chosen(name: string, { items, minItems, maxItems }: Fields, value: readonly string[]): readonly string[] {
  const options = optionsOf(items) ?? []
  if (typeof minItems === 'number' && value.length < minItems) wrong(`“${name}” has fewer than ${minItems} choices`)
  if (typeof maxItems === 'number' && value.length > maxItems) wrong(`“${name}” has more than ${maxItems} choices`)
  const stranger = value.find((choice) => !options.includes(choice))
  return stranger === undefined ? value : wrong(`“${name}” has a choice that is none of its options`)
}

/** `enum`, or options with titles; undefined where anything goes. */
function optionsOf(described: unknown): readonly string[] | undefined {
  if (!isFields(described)) return undefined
  const { enum: bare, oneOf, anyOf } = described
  if (isTexts(bare)) return bare
  const titled = oneOf ?? anyOf ?? undefined
  if (!Array.isArray(titled)) return undefined
  return titled.flatMap((option: unknown) =>
    isFields(option) && typeof option['const'] === 'string' ? [option['const']] : [],
  )
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}

function refuse(reason: string): never {
  return fail('ELICITATION_INVALID', { reason })
}

/** Says which value, never what it is: it may be private. */
function wrong(reason: string): never {
  return fail('CLIENT_ANSWER_INVALID', { method: 'elicitation/create', reason })
}
