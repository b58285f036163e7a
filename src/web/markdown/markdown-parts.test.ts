import { array, assert, constantFrom, nat, property } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { GrowingMarkdown } from './growing-markdown.ts'
import { MarkdownParts, blocksOf } from './markdown-parts.ts'

const PIECES = [
  '# A heading\n\n',
  'A paragraph with *emphasis*, `code` and a [link](https://a.example/b).\n\n',
  'Two lines\nof one paragraph, that says a little more than others do.\n\n',
  '- one\n- two\n  - and deeper\n\n',
  '1. first\n\n2. second\n\n',
  '```ts\nconst one = 1\n\n\nconst two = 2\n```\n\n',
  '> said by another\n> before\n\n',
  '| a | b |\n|---|--:|\n| 1 | 2 |\n\n',
  '磁盘阵列重建完成。见https://a.example/c。然后继续。\n\n',
  '---\n\n',
  '<b>not an element</b>\n\n',
]
/** The same texts in each run. */
const RUNS = { seed: 20_261_128, numRuns: 100 }
const texts = array(constantFrom(...PIECES), { minLength: 1, maxLength: 200 }).map((pieces) => pieces.join(''))

function wholeOf(text: string) {
  const markdown = new GrowingMarkdown()
  markdown.update(text, true)
  return markdown.blocks.flatMap(({ nodes }) => nodes)
}

describe('an answer in parts', () => {
  test('says what it says as a whole, however it came', () =>
    assert(
      property(texts, array(nat(10_000), { maxLength: 20 }), (text, cuts) => {
        const parts = new MarkdownParts()
        for (const cut of cuts.toSorted((one, other) => one - other)) parts.of(text.slice(0, cut), false)
        const all = parts.of(text, true)
        expect(all.map(({ raw }) => raw).join('')).toBe(text)
        expect(all.flatMap(({ blocks }) => blocks.flatMap(({ nodes }) => nodes))).toEqual(wholeOf(text))
        expect(all.map(({ isLast }) => isLast)).toEqual(all.map((_part, index) => index === all.length - 1))
      }),
      RUNS,
    ))

  test('has the same parts however it came', () =>
    assert(
      property(texts, nat(10_000), (text, cut) => {
        const parts = new MarkdownParts()
        parts.of(text.slice(0, cut), false)
        const rawOf = (some: MarkdownParts) => some.of(text, true).map(({ raw }) => raw)
        expect(rawOf(parts)).toEqual(rawOf(new MarkdownParts()))
      }),
      RUNS,
    ))

  test('can be read part by part', () =>
    assert(
      property(texts, (text) => {
        for (const { raw, blocks } of new MarkdownParts().of(text, true))
          expect(blocksOf(raw, '').flatMap(({ nodes }) => nodes)).toEqual(blocks.flatMap(({ nodes }) => nodes))
      }),
      RUNS,
    ))

  test('keeps its finished parts, and the last one is short', () => {
    const parts = new MarkdownParts()
    let text = ''
    let before: readonly unknown[] = []
    for (let n = 0; n < 400; n += 1) {
      text += PIECES[n % PIECES.length] ?? ''
      const now = parts.of(text, false)
      expect(now.slice(0, before.length)).toEqual(before)
      expect(now.slice(0, before.length).every((part, index) => part === before[index])).toBe(true)
      expect(now.at(-1)?.raw.length).toBeLessThan(3_000)
      before = now.slice(0, -1)
    }
    expect(before.length).toBeGreaterThan(5)
  })

  test('has links whose addresses are defined in another part', () => {
    const text = `See [this][1].\n\n${'A paragraph of words.\n\n'.repeat(200)}[1]: https://a.example/\n`
    const [first] = new MarkdownParts().of(text, true)
    const link = { is: 'link', href: 'https://a.example/' }
    expect(first?.blocks[0]?.nodes).toMatchObject([{ children: ['See ', link, '.'] }])
    const [again] = blocksOf(first?.raw ?? '', '[1]: https://a.example/')
    expect(again?.nodes).toMatchObject([{ children: ['See ', link, '.'] }])
  })
})
