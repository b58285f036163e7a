/** Packing changes the size of entries, and nothing else. */
import { array, assert, constantFrom, integer, json, oneof, property, string, tuple } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { packEntries, unpackEntries } from './journal-base.ts'

const MOST_BYTES = 900

const chunk = (text: string) => JSON.stringify(['agent', 't1-m1', text])
const body = oneof(
  string().map(chunk),
  constantFrom('', '"', '""', 'a"b', '\\', '\n').map(chunk),
  string().map((title) => JSON.stringify({ kind: 'title', title })),
  json(),
  json().map((text) => JSON.stringify(JSON.parse(text), null, 2)),
)
const stored = array(tuple(integer({ min: 0, max: 2_000_000_000_000 }), body), { maxLength: 300 })

describe('packed entries', () => {
  test('are unpacked unchanged, whatever they contain', () => {
    assert(
      property(integer({ min: 1, max: 1e9 }), stored, (first, entries) => {
        const given = { at: entries.map(([at]) => at), bodies: entries.map(([, text]) => text) }
        const rows = packEntries(first, given, MOST_BYTES)
        const back = rows.map(unpackEntries)
        expect({ at: back.flatMap(({ at }) => at), bodies: back.flatMap(({ bodies }) => bodies) }).toEqual(given)
        let next = first
        for (const { seq, count } of rows) {
          expect(seq).toBe(next + count - 1)
          next = seq + 1
        }
      }),
    )
  })

  test('take little more room than the parts that differ', () => {
    const words = Array.from({ length: 100 }, (_, n) => `w${n % 10} `)
    const rows = packEntries(1, { at: words.map(() => 7), bodies: words.map(chunk) }, MOST_BYTES)
    expect(rows).toHaveLength(1)
    expect(rows[0]?.body.length).toBeLessThan(words.join('').length * 1.5)
  })

  test('have each text in one piece, so that a search of the file finds it', () => {
    const words = ['chunk 11 of 20', 'chunk 12 of 20', 'chunk 13 of 20']
    const [row] = packEntries(1, { at: [1, 1, 1], bodies: words.map(chunk) }, MOST_BYTES)
    for (const word of words) expect(row?.body).toContain(word)
  })

  test('fit into the given size, in any language and any grouping', () => {
    const words = Array.from({ length: 1000 }, (_, n) => (n % 2 === 0 ? '软件阵列卷组 ' : 'plain words '))
    const rows = packEntries(1, { at: words.map((_, n) => n * 50), bodies: words.map(chunk) }, MOST_BYTES)
    for (const row of rows) expect(Buffer.byteLength(row.body)).toBeLessThan(960)
    expect(rows.length).toBeLessThan(60)
  })
})
