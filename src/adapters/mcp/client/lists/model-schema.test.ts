import { expect, test } from 'vitest'
import { forModels, UnfoldingBudget } from './model-schema.ts'

const rewritten = (schema: object) => {
  const fit = forModels(schema as Readonly<Record<string, unknown>>)
  return 'schema' in fit ? fit.schema : fit
}

const of = (inner: object, more: object = {}) => ({ type: 'object', properties: { a: inner }, ...more })

const $defs = { x: { type: 'number' } }
const text = { type: 'string' }
test.each([
  ['a plain one stays', of({ type: 'string', minLength: 1 }, { required: ['a'] }), { type: 'string', minLength: 1 }],
  [
    'a reference is followed',
    of({ $ref: '#/$defs/x', description: 'd' }, { $defs }),
    { type: 'number', description: 'd' },
  ],
  ['null among types means not required', of({ type: ['string', 'null'] }), { type: 'string' }],
  ['several types become choices', of({ type: ['string', 'number'] }), { anyOf: [text, { type: 'number' }] }],
  ['a constant becomes a list of one', of({ const: 'x' }), { type: 'string', enum: ['x'] }],
  ['an enum that contradicts its type goes', of({ type: 'number', enum: ['1'] }), { type: 'number' }],
  ['conditions, negations and patterns go', of({ ...text, pattern: '^a', not: {}, if: {}, 'x-mcp-header': 'A' }), text],
  ['a list says what it holds', of({ type: 'array' }), { type: 'array', items: {} }],
  [
    'a tuple holds any of its parts',
    of({ type: 'array', prefixItems: [text] }),
    { type: 'array', items: { anyOf: [text] } },
  ],
  ['choices lose their null', of({ oneOf: [{ type: 'string' }, { type: 'null' }] }), { anyOf: [{ type: 'string' }] }],
])('%s', (_, schema, a) => {
  expect(rewritten(schema)).toMatchObject({ type: 'object', properties: { a } })
  const kept = Object.keys((rewritten(schema) as { properties: { a: object } }).properties.a)
  expect(new Set(kept)).toEqual(new Set(Object.keys(a)))
})

test('a root made of several schemas becomes one object [J4]', () => {
  const pieces = {
    allOf: [of({ type: 'string' }, { required: ['a'] })],
    anyOf: [
      { properties: { b: { type: 'string' }, c: {} }, required: ['b', 'c'] },
      { properties: { b: { type: 'string' } }, required: ['b'] },
    ],
  }
  const schema = rewritten(pieces)
  expect(schema).toMatchObject({ type: 'object', required: ['a', 'b'] })
  expect(Object.keys((schema as { properties: object }).properties)).toEqual(['b', 'c', 'a'])
  expect(schema).not.toHaveProperty('anyOf')
})

test('a schema that refers to itself is unfolded to a limit', () => {
  const schema = of({ $ref: '#/$defs/tree' }, { $defs: { tree: of({ $ref: '#/$defs/tree' }) } })
  expect(JSON.stringify(rewritten(schema)).length).toBeLessThan(5000)
})

test.each([
  ['a name that models cannot use', { type: 'object', properties: { 'a b': {} } }],
  ['something outside itself', of({ $ref: 'https://example.org/schema' })],
  ['something that is not there', of({ $ref: '#/$defs/none' })],
  ['something outside itself', of({ $ref: '#/properties/a' })],
])('a schema with %s is not sent to models', (why, schema) => {
  expect(rewritten(schema)).toEqual({ unsupported: expect.stringContaining(why) })
})

test('references that branch are unfolded less deep, within a limit for all tools of a list', () => {
  const branches = Array.from({ length: 40 }, () => ({ $ref: '#/$defs/x' }))
  const schema = of({ $ref: '#/$defs/x' }, { $defs: { x: { anyOf: branches } } })
  const { a } = (rewritten(schema) as { properties: { a: { anyOf: readonly object[] } } }).properties
  expect(a.anyOf).toHaveLength(40)
  const budget = new UnfoldingBudget()
  const all = Array.from({ length: 100 }, () => forModels(schema, budget))
  expect(all.at(0)).toHaveProperty('schema')
  expect(all.at(-1)).toEqual({ unsupported: 'the schemas of this server refer to themselves too often' })
})

test('recursive, doubling and malformed references are unfolded in bounded time', () => {
  const level = (n: number) => [`l${n}`, { allOf: [{ $ref: `#/$defs/l${n + 1}` }, { $ref: `#/$defs/l${n + 1}` }] }]
  const $defs = Object.fromEntries([...Array.from({ length: 26 }, (_, n) => level(n)), ['l26', { type: 'object' }]])
  expect(rewritten({ type: 'object', $ref: '#/$defs/l0', $defs })).toMatchObject({ type: 'object' })
  const whole = { $ref: '#' }
  expect(rewritten({ type: 'object', allOf: [whole], anyOf: [whole, whole] })).toMatchObject({ type: 'object' })
  expect(rewritten(of({ $ref: '#/%' }))).toEqual({ unsupported: 'its schema refers to something that is not there' })
})
