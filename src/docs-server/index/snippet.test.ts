import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { findMatches, parseQuery } from '../../text/query.ts'
import { lineAt, snippetOf } from './snippet.ts'

test('a long text is shown around its first match, from the start of a word', () => {
  const text = `${'before '.repeat(100)}needle ${'after '.repeat(100)}needle`
  const { text: shown, highlights } = snippetOf(text, findMatches(text, parseQuery('needle')), 100)
  expect(shown).toMatch(/^(before )+needle after/)
  expect(shown).toHaveLength(100)
  expect(highlights.map(([start, end]) => shown.slice(start, end))).toEqual(['needle'])
})

test('what is marked is always a match, and the first match is always shown', () => {
  const document = fc.array(fc.constantFrom('阵列', '，', ' word ', '𠮷', '\n', 'x'.repeat(40)), { maxLength: 60 })
  fc.assert(
    fc.property(document, fc.integer({ min: 20, max: 120 }), (pieces, longest) => {
      const text = pieces.join('')
      const matches = findMatches(text, parseQuery('阵列'))
      const snippet = snippetOf(text, matches, longest)
      expect(snippet.text.length).toBeLessThanOrEqual(longest + 1)
      expect(snippet.highlights.length > 0).toBe(matches.length > 0)
      const marked = snippet.highlights.map(([start, end]) => snippet.text.slice(start, end))
      for (const match of marked.slice(0, -1)) expect(match.replaceAll('\n', '')).toMatch(/^(阵列)+$/)
    }),
  )
})

test('the line of a match counts from the line of the passage', () => {
  expect(lineAt('a\nb\nc', 0, 10)).toBe(10)
  expect(lineAt('a\nb\nc', 4, 10)).toBe(12)
})
