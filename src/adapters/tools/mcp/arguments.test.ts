import { describe, expect, test } from 'vitest'
import { openSchemas } from './arguments.ts'

function checker() {
  const faults: string[] = []
  const schemas = openSchemas((what, fault) => faults.push(`${what}: ${fault}`))
  return {
    faults,
    check: (schema: Readonly<Record<string, unknown>>, value: unknown) => schemas.check(schema, value, 'it'),
  }
}

const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more })

describe('arguments', () => {
  test('that fit pass, others are named', () => {
    const { check, faults } = checker()
    const schema = object({ n: { type: 'integer', minimum: 1 } }, { required: ['n'], additionalProperties: false })
    expect(check(schema, { n: 1 })).toBeUndefined()
    expect(check(schema, {})).toBe("they must have required property 'n'")
    expect(check(schema, { n: 0 })).toBe('they/n must be >= 1')
    expect(faults).toEqual([])
  })

  test('pass either half of a schema that contradicts itself, which is said once', () => {
    const { check, faults } = checker()
    const schema = object(
      { page: { type: 'number', enum: ['1', '2'] }, word: { type: 'string' } },
      { required: ['word'] },
    )
    expect(check(schema, { page: 7, word: '' })).toBeUndefined()
    expect(check(schema, { page: '1', word: '' })).toBeUndefined()
    expect(check(schema, { page: '3', word: '' })).toBeDefined()
    expect(check(schema, { page: 1 })).toBe("they must have required property 'word'")
    expect(faults).toEqual(['it: /properties/page wants type "number" but its enum has no such value'])
  })

  test('keep what else the contradicting schema asked for', () => {
    const { check } = checker()
    const schema = object({ page: { type: 'number', enum: ['1', '22'], anyOf: [{ maxLength: 1 }] } })
    expect(check(schema, { page: '1' })).toBeUndefined()
    expect(check(schema, { page: '22' })).toBeDefined()
  })

  test('pass a schema that cannot be understood, which is said once', () => {
    const { check, faults } = checker()
    for (const schema of [
      object({ a: { $ref: 'https://example.com/schema.json' } }),
      object({ a: { type: 'nonsense' } }),
      { ...object({}), $schema: 'urn:unknown' },
    ]) {
      expect(check(schema, { a: 1 })).toBeUndefined()
      expect(check(schema, { a: 1 })).toBeUndefined()
    }
    expect(faults).toHaveLength(3)
  })

  test('named like words of the schema language are no contradiction', () => {
    const { check, faults } = checker()
    const schema = object(
      { enum: { type: 'array' }, type: { type: 'string' }, default: { type: 'string', enum: ['a'] } },
      { default: { type: 'number', enum: ['x'] } },
    )
    expect(check(schema, { enum: [], type: 't', default: 'a' })).toBeUndefined()
    expect(check(schema, { default: 'b' })).toBeDefined()
    expect(faults).toEqual([])
  })

  test('of two schemas with one $id do not meet', () => {
    const { check } = checker()
    expect(check({ $id: 'https://example.com/x', ...object({ a: { type: 'string' } }) }, { a: 's' })).toBeUndefined()
    expect(check({ $id: 'https://example.com/x', ...object({ a: { type: 'number' } }) }, { a: 's' })).toBe(
      'they/a must be number',
    )
  })
})
