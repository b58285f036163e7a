/**
 * Checks the forms that a user may be asked to fill in, and the values that come back. A form is flat: an object of texts, numbers,
 * choices and yes or no.
 */
import { fail } from '../../errors/parley-error.ts'
import { choicesOf, isFields, isTexts } from '../../form/choices.ts'
import { fitOf } from '../../form/validate-field.ts'
import { regularExpression } from '../../form/pattern.ts'
import type { ElicitedValue } from '../../ports/values/elicitation.ts'

type Fields = Readonly<Record<string, unknown>>

/** Throws ELICITATION_INVALID with what is wrong and where. */
export function assertElicitationSchema(schema: Fields): void {
  const { type = 'object', properties = {}, required = [] } = schema
  if (type !== 'object') return failForm('a form is an object')
  if (!isFields(properties)) return failForm('its properties are not an object')
  for (const [name, property] of Object.entries(properties)) requireProperty(name, property)
  for (const name of isTexts(required) ? required : failForm('`required` is not a list of names'))
    if (!Object.hasOwn(properties, name)) failForm(`it requires “${name}”, which it does not have`)
}

/** The user's values, without those that the form does not have. Throws CLIENT_ANSWER_INVALID for the first value that does not fit. */
export function parseElicitationContent(schema: Fields, content: unknown): Readonly<Record<string, ElicitedValue>> {
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
  if (!isFields(property)) return failForm(`“${name}” is not described`)
  const { type, title } = property
  if (type === 'string' && SECRET.test(`${inWords(name)} ${inWords(title)}`))
    failForm(`“${name}” is a secret, and a form must never ask for one`)
  switch (type) {
    case 'string':
      return requireText(name, property)
    case 'array':
      if (choicesOf(property['items']) === undefined) failForm(`“${name}” is a list of something other than options`)
      return
    case 'number':
    case 'integer':
    case 'boolean':
      return
    default:
      failForm(`“${name}” is neither a text, a number, a yes or no, nor a list of options`)
  }
}

/** `apiKey`, `api_key` and `api-key` are two words. */
function inWords(name: unknown): string {
  return typeof name === 'string' ? name.replace(/([a-z])([A-Z])/gu, '$1 $2').replace(/[_-]+/gu, ' ') : ''
}

function requireText(name: string, { pattern }: Fields): void {
  if (typeof pattern === 'string' && regularExpression(pattern) === undefined)
    failForm(`the pattern of “${name}” is no regular expression`)
}

function valueOf(name: string, property: Fields, value: unknown): ElicitedValue {
  const fit = fitOf(property, value)
  return 'value' in fit ? fit.value : wrong(`“${name}” ${fit.misfit}`)
}

function failForm(reason: string): never {
  return fail('ELICITATION_INVALID', { reason })
}

/** Says which value, never what it is: it may be private. */
function wrong(reason: string): never {
  return fail('CLIENT_ANSWER_INVALID', { method: 'elicitation', reason })
}
