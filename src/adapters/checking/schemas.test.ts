import { afterAll, describe, expect, test } from 'vitest'
import { openChecker } from '../../../test/fixtures/tools/checker.ts'
import { hostileSchemas } from '../../../test/fixtures/tools/hostile-schemas.ts'
import { isCheapCheck, isCheapSchema, Schemas } from './schemas.ts'

/** Nothing here takes so long but what is meant to. */
const PATIENT = { jobMs: 60_000, waitMs: 60_000 }

const threads = openChecker(PATIENT)
afterAll(() => threads.close())

function checker(among = threads) {
  const faults: string[] = []
  const schemas = new Schemas(among, (what, fault) => faults.push(`${what}: ${fault}`))
  return {
    faults,
    check: (schema: Readonly<Record<string, unknown>>, value: unknown) => schemas.check(schema, value, 'it'),
  }
}

const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more })

describe('arguments', () => {
  test('that fit pass; the others are named', async () => {
    const { check, faults } = checker()
    const schema = object({ n: { type: 'integer', minimum: 1 } }, { required: ['n'], additionalProperties: false })
    expect(await check(schema, { n: 1 })).toBeUndefined()
    expect(await check(schema, {})).toBe("they must have required property 'n'")
    expect(await check(schema, { n: 0 })).toBe('they/n must be >= 1')
    expect(faults).toEqual([])
  })

  test('pass if they fit one half of a schema that contradicts itself, which is reported once', async () => {
    const { check, faults } = checker()
    const page = { type: 'number', enum: ['1', '2'] }
    const schema = object({ page, word: { type: 'string' } }, { required: ['word'] })
    expect(await check(schema, { page: 7, word: '' })).toBeUndefined()
    expect(await check(schema, { page: '1', word: '' })).toBeUndefined()
    expect(await check(schema, { page: '3', word: '' })).toBeDefined()
    expect(await check(schema, { page: 1 })).toBe("they must have required property 'word'")
    expect(faults).toEqual(['it: /properties/page wants type "number" but its enum has no such value'])
  })

  test('are checked against the rest of a schema that contradicts itself', async () => {
    const { check } = checker()
    const schema = object({ page: { type: 'number', enum: ['1', '22'], anyOf: [{ maxLength: 1 }] } })
    expect(await check(schema, { page: '1' })).toBeUndefined()
    expect(await check(schema, { page: '22' })).toBeDefined()
  })

  test('pass a schema that cannot be compiled, which is reported once [J1]', async () => {
    const { check, faults } = checker()
    const wrong = [{ $ref: 'https://example.com/schema.json' }, { type: 'nonsense' }].map((a) => object({ a }))
    for (const schema of [...wrong, { ...object({}), $schema: 'urn:unknown' }])
      for (const _again of [1, 2]) expect(await check(schema, { a: 1 })).toBeUndefined()
    expect(faults).toHaveLength(3)
  })

  test('named like words of the schema language are no contradiction', async () => {
    const { check, faults } = checker()
    const schema = object(
      { enum: { type: 'array' }, type: { type: 'string' }, default: { type: 'string', enum: ['a'] } },
      { default: { type: 'number', enum: ['x'] } },
    )
    expect(await check(schema, { enum: [], type: 't', default: 'a' })).toBeUndefined()
    expect(await check(schema, { default: 'b' })).toBeDefined()
    expect(faults).toEqual([])
  })

  test('of two schemas with one $id are checked separately', async () => {
    const { check } = checker()
    const of = (type: string) => ({ $id: 'https://example.com/x', ...object({ a: { type } }) })
    expect(await check(of('string'), { a: 's' })).toBeUndefined()
    expect(await check(of('number'), { a: 's' })).toBe('they/a must be number')
  })
})

describe('a schema that takes too long', () => {
  const slow = (n: number) => object({ [`a${n}`]: { type: 'string', pattern: '^(a|a)*$' } })
  const value = (n: number) => ({ [`a${n}`]: `${'a'.repeat(60)}!` })
  const SLOW = 'it could not be checked in time: it takes too much time or memory'

  test('lets values pass, is reported once, and is not tried again', async () => {
    const hasty = openChecker({ jobMs: 100 })
    const { check, faults } = checker(hasty)
    const one = slow(1)
    expect(await check(one, value(1))).toBeUndefined()
    expect(await check(one, value(1))).toBeUndefined()
    expect(faults).toEqual([`it: ${SLOW}`])
    await hasty.close()
  })

  test.each(Object.entries(hostileSchemas))('lets values pass: %s', async (_name, { schema, value: hostile }) => {
    const hasty = openChecker({ jobMs: 100 })
    expect(await checker(hasty).check(schema, hostile)).toBeUndefined()
    await hasty.close()
  })

  test('delays no other MCP server, however many such schemas one server has', async () => {
    const both = openChecker({ ...PATIENT, threads: 2 })
    const [bad, good] = [checker(both), checker(both)]
    const checks = Array.from({ length: 20 }, (_, n) => bad.check(slow(n), value(n)))
    const fine = object({ a: { type: 'string', pattern: '^b$' } })
    expect(await good.check(fine, { a: 'a' })).toBe('they/a must match pattern "^b$"')
    await both.close()
    expect(new Set(await Promise.all(checks))).toEqual(new Set([undefined]))
  })

  test('and one that needs too much memory ends only its thread', async () => {
    const small = openChecker({ heapMegabytes: 32 })
    const { check, faults } = checker(small)
    const next = (n: number) => ({ $ref: `#/$defs/l${n + 1}` })
    const rows = Array.from({ length: 40 }, (_, n) => [`l${n}`, { anyOf: [next(n), next(n), { const: n }] }])
    const $defs = Object.fromEntries([...rows, ['l40', { const: 'no' }]])
    expect(await check(object({ a: { $ref: '#/$defs/l0' } }, { $defs }), { a: 'yes' })).toBeUndefined()
    expect(faults).toEqual([`it: ${SLOW}`])
    await small.close()
  })
})

describe('no thread is needed', () => {
  const plain = object({ a: { type: 'array', items: { anyOf: [{ type: 'string', maxLength: 5 }, { enum: [1] }] } } })

  test.each([
    ['a flat schema', plain, true],
    ['a pattern', object({ a: { pattern: '^a' } }), false],
    ['a format', object({ a: { format: 'uri' } }), false],
    ['a reference', object({ a: { $ref: '#' } }), false],
    ['items that must differ', object({ a: { uniqueItems: true } }), false],
    ['names that match', object({}, { patternProperties: {} }), false],
    ['a keyword that is not known here', object({ a: { unevaluatedItems: false } }), false],
    ['a schema of more than a page', object({ a: { description: 'x'.repeat(10_000) } }), false],
  ])('for %s: %s', (_name, schema, isCheap) => expect(isCheapSchema(schema)).toBe(isCheap))

  test('for a value that is small beside its schema', () => {
    expect(isCheapCheck(plain, { a: ['x'.repeat(20_000)] })).toBe(true)
    expect(isCheapCheck(plain, { a: Array.from({ length: 20_000 }, () => 'x') })).toBe(false)
  })
})
