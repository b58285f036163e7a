/** The text that users type for a field of a form, and the value that it becomes. */
import { describe, expect, test } from 'vitest'
import { readAnswer } from './answers.ts'
import { type Field, fieldsIn } from '../../../form/fields.ts'
import { hintOf } from './fields.ts'

type Fields = Readonly<Record<string, unknown>>

function field(property: Fields, required = true): Field {
  const [only] = fieldsIn({ properties: { it: property }, required: required ? ['it'] : [] }) ?? []
  if (only === undefined) throw new Error('cannot be asked for')
  return only
}

const [small, large] = [
  { const: 's', title: 'Small' },
  { const: 'l', title: 'Large' },
]
const sizes = { type: 'string', oneOf: [small, large] }
const fruits = { type: 'array', items: { enum: ['apple', 'pear', 'plum'] }, minItems: 1, maxItems: 2 }
const titled = { type: 'array', items: { anyOf: [{ const: 'mo', title: 'Monday' }] } }

describe('typed text is parsed to a value', () => {
  test.each<readonly [what: string, property: Fields, typed: string, value: unknown]>([
    ['a text', { type: 'string' }, ' Ada 软 ', 'Ada 软'],
    ['as many characters as people see', { type: 'string', maxLength: 2 }, '𝒜𝒷', '𝒜𝒷'],
    ['a mail address', { type: 'string', format: 'email' }, 'ada@example.org', 'ada@example.org'],
    ['a number', { type: 'number' }, '-1.5e3', -1500],
    ['a whole number', { type: 'integer' }, '42', 42],
    ['yes', { type: 'boolean' }, 'Y', true],
    ['no', { type: 'boolean' }, 'no', false],
    ['the number of an option', sizes, '2', 'l'],
    ['the words of an option', sizes, 'large', 'l'],
    ['a bare option', { type: 'string', enum: ['a', 'b'] }, '1', 'a'],
    ['an option with a name of older servers', { type: 'string', enum: ['a'], enumNames: ['Ay'] }, 'ay', 'a'],
    ['several numbers', fruits, '3, 1', ['plum', 'apple']],
    ['the same number twice', fruits, '1 1', ['apple']],
    ['several in words', fruits, 'pear,Plum', ['pear', 'plum']],
    ['one of several with titles', titled, '1', ['mo']],
    ['nothing, where a list may be empty', titled, '', []],
    ['nothing, where there is a default', { type: 'string', default: 'Bob' }, '', 'Bob'],
    ['an unknown format', { type: 'string', format: 'colour' }, 'red', 'red'],
  ])('%s', (...[, property, typed, value]) => expect(readAnswer(field(property), typed)).toEqual({ value }))

  test.each([
    ['nothing', { type: 'string' }, ''],
    ['a hyphen, where Enter would take something', { type: 'boolean', default: true }, '-'],
  ])('an optional field is left empty by %s', (_what, property, typed) =>
    expect(readAnswer(field(property, false), typed)).toEqual({ value: undefined }),
  )
})

test.each<readonly [property: Fields, typed: string, sentence: string]>([
  [{ type: 'string' }, '  ', 'This one needs an answer.'],
  [{ type: 'string', minLength: 3 }, 'ab', 'That is shorter than 3 characters.'],
  [{ type: 'string', maxLength: 1 }, 'ab', 'That is longer than 1 characters.'],
  [{ type: 'string', pattern: '^[a-z]+$' }, 'Ada', 'That is not of the form ^[a-z]+$.'],
  [{ type: 'string', format: 'email' }, 'ada', 'That is not written as email.'],
  [{ type: 'string', format: 'uri' }, 'here', 'That is not written as uri.'],
  [{ type: 'string', format: 'date' }, '31.1.2026', 'That is not written as date.'],
  [{ type: 'string', format: 'date-time' }, '2026-01-31', 'That is not written as date-time.'],
  [{ type: 'number' }, '0x10', 'That is not a number.'],
  [{ type: 'number' }, '1e999', 'That is not a number.'],
  [{ type: 'integer' }, '1.5', 'That is not a whole number.'],
  [{ type: 'integer', minimum: 0 }, '-1', 'That is less than 0.'],
  [{ type: 'number', maximum: 10 }, '11', 'That is more than 10.'],
  [{ type: 'boolean' }, 'maybe', 'Answer y or n.'],
  [sizes, '3', 'There is no “3” here: type a number from 1 to 2.'],
  [sizes, '0', 'There is no “0” here: type a number from 1 to 2.'],
  [fruits, '1,melon', 'There is no “melon” here: type a number from 1 to 3.'],
  [fruits, '1,2,3', 'That has more than 2 choices.'],
  [fruits, '', 'This one needs an answer.'],
  // An invalid default is ignored.
  [{ type: 'integer', default: 'many' }, '', 'This one needs an answer.'],
])('an invalid answer is refused with one sentence %j: “%s”', (property, typed, sentence) =>
  expect(readAnswer(field(property), typed)).toEqual({ sentence }),
)

test.each<readonly [property: Fields, hint: string]>([
  [{ type: 'string', minLength: 2, maxLength: 9 }, '2 to 9 characters'],
  [{ type: 'string', format: 'date', pattern: '^2' }, 'such as 2026-01-31, of the form ^2'],
  [{ type: 'integer', minimum: 1, maximum: 9 }, 'a whole number from 1 to 9'],
  [{ type: 'number', maximum: 9 }, 'a number up to 9'],
  [fruits, 'numbers of these, separated by commas, 1 to 2'],
  [{ type: 'boolean' }, 'y or n'],
])('the constraint of a field is shown: %j', (property, hint) => expect(hintOf(field(property))).toBe(hint))

test.each([{ type: 'object' }, { type: '_colour' }, {}, { type: 'array', items: { type: 'string' } }, 'a text'])(
  'a form with %j cannot be filled in',
  (property) => expect(fieldsIn({ properties: { it: property } })).toBeUndefined(),
)
