import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { findMatches, parseQuery } from '../../../text/query.ts'
import { lineAt, snippetOf } from './snippet.ts'

test('a long text is shown around its first match, from the start of a word', () => {
  const text = `${'before '.repeat(100)}needle ${'after '.repeat(100)}needle`
  const { text: shown, highlights } = snippetOf(text, findMatches(text, parseQuery('needle')), 100)
  expect(shown).toMatch(/^… (before )+needle after( after)* …$/)
  expect(shown.length).toBeLessThanOrEqual(100)
  expect(highlights.map(([start, end]) => shown.slice(start, end))).toEqual(['needle'])
})

test('only matches are highlighted, and the first match is always shown', () => {
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

const shownOf = (text: string, query: string, longest: number) =>
  snippetOf(text, findMatches(text, parseQuery(query)), longest).text

test('an excerpt ends with a sentence if one ends nearby, else with a whole word', () => {
  const sentences = 'The first sentence is here. '.repeat(3)
  const text = `${sentences}A needle is in this one. ${'And more '.repeat(20)}`
  expect(shownOf(text, 'needle', 40)).toBe('… A needle is in this one. …')
  const word = 'incomprehensibilities'
  expect(shownOf(`needle ${`${word} `.repeat(9)}`, 'needle', 60)).toBe(`needle ${word} ${word} …`)
})

test('an excerpt of Chinese is cut where a sentence or a clause ends', () => {
  const text = `${'前面的句子没有那个词。'.repeat(9)}磁盘阵列坏了，要用新的磁盘重建。${'后面还有很多别的内容，'.repeat(9)}`
  const excerpt = /^… (?:前面的句子没有那个词。)+磁盘阵列坏了，要用新的磁盘重建。(?:后面还有很多别的内容，)* …$/
  expect(shownOf(text, '阵列', 60)).toMatch(excerpt)
  expect(shownOf(`阵列${'甲'.repeat(90)}word`, '阵列', 40)).toMatch(/^阵列甲+ …$/)
})

test('an English word among Chinese is not cut', () => {
  const text = `阵列${'和Kubernetes一起用'.repeat(9)}`
  for (let longest = 30; longest < 60; longest++)
    expect(shownOf(text, '阵列', longest)).toMatch(/^阵列(?:和|Kubernetes|一|起|用)* …$/)
})

test('a heading keeps its line, and an excerpt that begins with it begins a line', () => {
  const text = `${'Words before it. '.repeat(9)}\n\n## Heading\n\nThe needle is here. ${'More words after. '.repeat(9)}`
  expect(shownOf(text, 'needle', 90)).toMatch(/^…\n## Heading\n\nThe needle is here\./)
})

test('the line of a match counts from the line of the passage', () => {
  expect(lineAt('a\nb\nc', 0, 10)).toBe(10)
  expect(lineAt('a\nb\nc', 4, 10)).toBe(12)
})
