/** A row gives back the entries that it was made of, whatever they are. */
import { array, assert, constantFrom, integer, json, oneof, property, string, tuple } from 'fast-check'
import { expect, test } from 'vitest'
import { packBody, unpackBody } from './body.ts'
import { escapeText, unescapeText } from './text.ts'

const chunk = (text: string) => JSON.stringify(['agent', 't1-m1', text])
const odd = constantFrom('', '\n', '\0', '\u0001', '\u0001"x"', '\ud800', 'a\udc00b', '1 2', '👋', ' json')
const body = oneof(string().map(chunk), odd, odd.map(chunk), json(), string({ unit: 'binary' }))
const stored = array(tuple(integer({ min: 0, max: 2e12 }), body), { minLength: 1, maxLength: 60 })

test('every entry comes back with its number and its time', () => {
  assert(
    property(integer({ min: 1, max: 1e9 }), stored, (first, given) => {
      const entries = given.map(([at, text], index) => ({ seq: first + index, at, body: text }))
      expect(unpackBody(first, packBody(entries))).toEqual(entries)
    }),
  )
})

test('what is written has nothing that PostgreSQL cannot keep, and plain text stays as it is', () => {
  assert(
    property(oneof(string(), odd, string({ unit: 'binary' })), (text) => {
      const written = escapeText(text)
      expect(written).not.toMatch(/\0|\p{Surrogate}/u)
      expect(unescapeText(written)).toBe(text)
    }),
  )
  expect(escapeText('卷 "a" 👋')).toBe('卷 "a" 👋')
})
