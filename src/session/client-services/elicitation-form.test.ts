/** Forms that users are asked to fill in, and the values that they may return. */
import { describe, expect, test } from 'vitest'
import { isParleyError } from '../../errors/parley-error.ts'
import { matches } from '../../form/pattern.ts'
import { assertElicitationSchema, parseElicitationContent } from './elicitation-form.ts'

const form = (properties: Record<string, unknown>, required: readonly string[] = []) => ({
  type: 'object',
  properties,
  required,
})

function codeOf(act: () => unknown): string | undefined {
  try {
    act()
    return undefined
  } catch (error) {
    return isParleyError(error) ? error.code : String(error)
  }
}

describe('a form', () => {
  test('may ask for texts, numbers, a yes or no, and choices [U6]', () => {
    const asked = form({
      name: { type: 'string', title: 'Name', minLength: 1, pattern: '^[A-Z]' },
      mail: { type: 'string', format: 'email' },
      size: { type: 'string', oneOf: [{ const: 's', title: 'Small' }] },
      age: { type: 'integer', minimum: 0 },
      price: { type: 'number' },
      sure: { type: 'boolean', default: false },
      fruits: { type: 'array', items: { type: 'string', enum: ['apple', 'pear'] } },
      days: { type: 'array', items: { anyOf: [{ const: 'mo', title: 'Monday' }] } },
      maxTokens: { type: 'integer', title: 'Tokens at most' },
    })
    expect(codeOf(() => assertElicitationSchema(asked))).toBeUndefined()
    expect(codeOf(() => assertElicitationSchema({}))).toBeUndefined()
  })

  test.each([
    ['anything but an object', { type: 'array' }],
    ['something in something', form({ a: { type: 'object', properties: {} } })],
    ['an unknown kind', form({ a: { type: '_colour' } })],
    ['no kind', form({ a: {} })],
    ['a list of anything', form({ a: { type: 'array', items: { type: 'string' } } })],
    ['what it requires and does not have', form({ a: { type: 'string' } }, ['b'])],
    ['what every object has', form({ a: { type: 'string' } }, ['toString'])],
    ['a pattern that is none', form({ a: { type: 'string', pattern: '(' } })],
    ['properties that are a list', { properties: [] }],
  ])('is refused where it asks for %s', (_what, schema) => {
    expect(codeOf(() => assertElicitationSchema(schema))).toBe('ELICITATION_INVALID')
  })

  test.each(['password', 'apiKey', 'api_key', 'clientSecret', 'ACCESS-TOKEN', 'your passphrase'])(
    'is refused where it asks for a secret: %s',
    (name) => {
      expect(codeOf(() => assertElicitationSchema(form({ [name]: { type: 'string' } })))).toBe('ELICITATION_INVALID')
      expect(codeOf(() => assertElicitationSchema(form({ a: { type: 'string', title: name } })))).toBe(
        'ELICITATION_INVALID',
      )
    },
  )
})

describe('the content that answers a form', () => {
  test('is accepted as it is, without fields that the form does not have', () => {
    const asked = form({ name: { type: 'string' }, age: { type: 'integer' }, more: { type: 'boolean' } }, ['name'])
    const given = { name: 'Ada', age: 36, more: null, role: 'admin', __proto__: 1 }
    expect(parseElicitationContent(asked, given)).toEqual({ name: 'Ada', age: 36 })
  })

  test.each<readonly [what: string, property: Record<string, unknown>, value: unknown]>([
    ['a number for a text', { type: 'string' }, 5],
    ['a text for a number', { type: 'number' }, '5'],
    ['a half for a whole', { type: 'integer' }, 1.5],
    ['too little', { type: 'number', minimum: 3 }, 2],
    ['too much', { type: 'integer', maximum: 3 }, 4],
    ['yes in words', { type: 'boolean' }, 'yes'],
    ['too short a text', { type: 'string', minLength: 3 }, '𝒜𝒷'],
    ['too long a text', { type: 'string', maxLength: 2 }, 'abc'],
    ['another pattern', { type: 'string', pattern: '^[a-z]+$' }, 'Ada'],
    ['no option', { type: 'string', enum: ['a'] }, 'b'],
    ['no option that has a title', { type: 'string', oneOf: [{ const: 'a', title: 'A' }] }, 'A'],
    ['no address', { type: 'string', format: 'email' }, 'ada'],
    ['no day', { type: 'string', format: 'date' }, '2026-13-01'],
    ['no moment', { type: 'string', format: 'date-time' }, '2026-01-01'],
    ['no link', { type: 'string', format: 'uri' }, 'here'],
    ['one for a list', { type: 'array', items: { enum: ['a'] } }, 'a'],
    ['a strange choice', { type: 'array', items: { enum: ['a'] } }, ['b']],
    ['too few choices', { type: 'array', items: { enum: ['a'] }, minItems: 1 }, []],
    ['too many choices', { type: 'array', items: { enum: ['a', 'b'] }, maxItems: 1 }, ['a', 'b']],
    ['nothing where something must be', { type: 'string' }, undefined],
  ])('is refused: %s', (_what, property, value) => {
    expect(codeOf(() => parseElicitationContent(form({ a: property }, ['a']), { a: value }))).toBe(
      'CLIENT_ANSWER_INVALID',
    )
  })

  test.each([null, undefined, 'Ada', ['Ada']])('is refused: %j instead of values', (content) => {
    expect(codeOf(() => parseElicitationContent(form({}), content))).toBe('CLIENT_ANSWER_INVALID')
  })

  test('the error does not quote the value, which may be private', () => {
    const attempt = () =>
      parseElicitationContent(form({ born: { type: 'string', format: 'date' } }), { born: 'in secret' })
    expect(attempt).toThrow('“born” is not written as date')
    expect(attempt).not.toThrow('in secret')
  })

  test('a pattern that could take too long is left to the client to check', () => {
    expect(matches('a'.repeat(5_000), '^(a+)+b$')).toBe(true)
    expect(matches('a'.repeat(5_000), '^a*a*a*b$')).toBe(true)
    expect(matches('a'.repeat(50), '^a*b$')).toBe(false)
    expect(matches('ab', '^(a|b)+$')).toBe(true)
    expect(matches('a'.repeat(40), `${'(?:a|a)'.repeat(40)}b`)).toBe(true)
    expect(matches('a'.repeat(40), `${'a?'.repeat(40)}${'a'.repeat(40)}b`)).toBe(true)
    expect(matches('x', '^(?:https?|ftp):')).toBe(false)
  })
})
