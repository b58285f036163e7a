/** Markdown of agents as elements: nothing of it becomes HTML, loads anything or leads elsewhere than it says. */
import { marked } from 'marked'
import { describe, expect, test, vi } from 'vitest'
import { wordsIn } from '../../../test/fixtures/word-list.ts'
import { HOSTILE, chance, faultIn, mutated, textOf } from '../../../test/page/hostile-corpus.ts'
import { tokensOrText } from '../../markdown/bounded-lexer.ts'
import { type Element, type Node, blocks } from './elements.ts'
import { GrowingMarkdown } from './growing-markdown.ts'
import { piecesOf, spelledOut } from './invisible.ts'
import { safeLink } from './links.ts'

const read = (text: string): readonly Node[] => blocks(tokensOrText(text, { depth: 30, paragraph: 5_000 }))

function all(nodes: readonly Node[]): readonly Element[] {
  return nodes.flatMap((node) =>
    typeof node === 'string' ? [] : [node, ...('children' in node ? all(node.children) : [])],
  )
}

const links = (text: string) => all(read(text)).flatMap((one) => (one.is === 'link' ? [one] : []))

describe('Markdown', () => {
  test.each([
    ['# One', 'heading'],
    ['*a*', 'emphasis'],
    ['**a**', 'strong'],
    ['~~a~~', 'deleted'],
    ['> a', 'quotation'],
    ['- a', 'list'],
    ['1. a', 'list'],
    ['---', 'rule'],
    ['```ts\na\n```', 'code block'],
    ['`a`', 'code'],
    ['|a|b|\n|-|-|\n|1|2|', 'table'],
    ['- [x] a', 'item'],
    ['a  \nb', 'break'],
  ])('%j has a %s', (text, is) => expect(all(read(text)).map((one) => one.is)).toContain(is))

  test('the language of a code block is the first word of its info string', () => {
    const [one] = read('```TS {.evil} "x"\na\n```')
    expect(one).toMatchObject({ is: 'code block', language: 'ts', code: 'a' })
  })

  const piecesIn = (nodes: readonly Node[]) => all(nodes).flatMap((one) => (one.is === 'piece' ? [textOf([one])] : []))

  test.each(['word ', 'line\n', '😀', 'x'])('many pages of %j are in pieces that stay as they are', (text) => {
    const whole = text.repeat(40_000 / text.length)
    const pieces = piecesIn(read(whole))
    expect(pieces.join('').trimEnd() === whole.trimEnd()).toBe(true)
    expect(pieces.length).toBeGreaterThan(7)
    expect(pieces.every((piece) => piece.length <= 5_000 && !/^[\uDC00-\uDFFF]/u.test(piece))).toBe(true)
    const grown = piecesIn(read(whole + text))
    expect(pieces.slice(0, -1).every((piece, at) => grown[at] === piece)).toBe(true)
    expect(piecesIn(read(text.repeat(100)))).toEqual([])
  })

  test('HTML is text', () => {
    const nodes = read('<b onclick="x()">hi</b>\n\n<script>alert(1)</script>')
    expect(textOf(nodes)).toContain('<script>alert(1)</script>')
    expect(textOf(nodes)).toContain('<b onclick="x()">')
    expect(new Set(all(nodes).map((one) => one.is))).toEqual(new Set(['paragraph']))
  })
})

describe('a link', () => {
  test.each([
    ['https://a.example/x', 'https://a.example/x', undefined],
    ['https://a.example', 'look here', 'a.example'],
    ['https://a.example', 'https://b.example', 'a.example'],
    ['https://b.example@a.example/', 'b.example', 'a.example'],
    ['https://аpple.com', 'аpple.com', 'xn--pple-43d.com'],
    ['mailto:ada@a.example', 'write', 'ada@a.example'],
    ['HTTPS://A.example', 'a.example', undefined],
  ])('to %j with the text %j says %j', (href, text, host) => expect(safeLink(href, text)?.host).toBe(host))

  const odd = [' JaVaScRiPt:alert(1)', 'java\tscript:alert(1)', `https://a.example/${'x'.repeat(5_000)}`, '']
  const others = wordsIn(`javascript:alert(1) data:text/html,x vbscript:x file:///etc/passwd blob:https://a.example/1
    //a.example /local x.html`)
  test.each([...odd, ...others])('%j is not a link', (href) => expect(safeLink(href, 'x')).toBeUndefined())

  test('in a Chinese sentence ends where it ends', () => {
    const nodes = read('见https://a.example/b。然后继续')
    expect(links('见https://a.example/b。然后继续').map(({ href }) => href)).toEqual(['https://a.example/b'])
    expect(textOf(nodes)).toBe('见https://a.example/b。然后继续')
  })

  test('that is refused is shown as it was written', () =>
    expect(textOf(read('[click](javascript:alert(1))'))).toBe('[click](javascript:alert(1))'))

  test('stands for an image of the network, which is not loaded', () => {
    const [one] = links('![a chart](https://evil.example/p.png?secret=1)')
    expect(one).toMatchObject({ is: 'link', host: 'evil.example' })
    expect(links('![x](data:image/png;base64,AAAA)')).toEqual([])
  })
})

describe('invisible characters', () => {
  test.each([
    ['a\u202eb', 'a⟨U+202E⟩b'],
    ['a\u200bb', 'a⟨U+200B⟩b'],
    ['\ud800x', '⟨U+D800⟩x'],
    ['a\u{e0041}', 'a⟨U+E0041⟩'],
    ['tab\tand\nline', 'tab\tand\nline'],
    ['👩\u200d🚀 磁盘 é', '👩\u200d🚀 磁盘 é'],
  ])('%j is shown as %j', (text, shown) => expect(spelledOut(text)).toBe(shown))

  test('text without any of it is one piece', () => expect(piecesOf('plain')).toEqual(['plain']))
})

describe('a message that grows', () => {
  const first = '# One\n\nFirst *paragraph*.\n\n- a\n- b\n\n```js\nlet x\n\nlet y\n```\n\n'
  const text = `${first}Last [link][1].\n\n[1]: https://a.example\n\nEnd.`

  test('has the same result as when it is parsed at once', () => {
    const growing = new GrowingMarkdown()
    for (let end = 1; end <= text.length; end += 1) growing.update(text.slice(0, end), false)
    growing.update(text, true)
    expect(growing.blocks.flatMap(({ nodes }) => nodes)).toEqual(read(text))
  })

  test('keeps its finished blocks', () => {
    const growing = new GrowingMarkdown()
    growing.update('One.\n\nTwo.\n\nThree.\n\nFour', false)
    const [first] = growing.blocks
    growing.update('One.\n\nTwo.\n\nThree.\n\nFour and more', false)
    expect(growing.blocks[0]).toBe(first)
    expect(growing.blocks.at(-1)?.nodes).toEqual(read('Four and more'))
  })

  test('is parsed again only at its end', () => {
    const growing = new GrowingMarkdown()
    const long = 'A paragraph.\n\n'.repeat(5_000)
    growing.update(long, false)
    const read = vi.spyOn(marked.Lexer.prototype, 'blockTokens')
    growing.update(`${long}And so on`, false)
    const characters = read.mock.calls.reduce((sum, [source]) => sum + source.length, 0)
    read.mockRestore()
    expect(characters).toBeLessThan(200)
  })
})

describe('hostile text', () => {
  test.each(HOSTILE)('%j is shown and does nothing', (text) => expect(faultIn(text, chance(1))).toBeUndefined())

  // `npm run conformance -- page` makes a hundred times as many.
  test('shows nothing else in any mutation', () => {
    const upTo = chance(20_261_123)
    const faults = Array.from({ length: 1_000 }, () => mutated(upTo)).flatMap((text) => {
      const fault = faultIn(text, upTo)
      return fault === undefined ? [] : [`${fault}: ${JSON.stringify(text)}`]
    })
    expect(faults).toEqual([])
  })

  test.each([
    ['opening brackets', '['.repeat(10_000)],
    ['nested quotations', '>'.repeat(10_000)],
    ['nested lists', Array.from({ length: 400 }, (_, depth) => `${' '.repeat(depth)}- a`).join('\n')],
    ['references to each other', Array.from({ length: 2_000 }, (_, n) => `[a${n}]: x\n[a${n}][a${n + 1}]`).join('\n')],
    ['stars', '*'.repeat(20_000)],
    ['one line of a million', 'a'.repeat(1_000_000)],
    ['columns', `|${'a|'.repeat(10_000)}\n|${'-|'.repeat(10_000)}\n|1|`],
    ['stars and words', '**a '.repeat(5_000)],
  ])('%s are parsed in bounded time', (_what, text) => expect(faultIn(text, chance(1))).toBeUndefined(), 30_000)
})
