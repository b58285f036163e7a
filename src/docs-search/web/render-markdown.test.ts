import { expect, test } from 'vitest'
import { markupOf } from './parts/html.ts'
import { linkAddress } from './links.ts'
import { markdownBlocks } from './render-markdown.ts'
import { marked } from './parts/marked.ts'

function shown(source: string): string {
  const marks = [...source.matchAll(/foo/g)].map(({ index }) => [index, index + 3] as const)
  const text = (range: readonly [number, number]) => marked(source, range, marks)
  const makers = markdownBlocks(source, [[0, source.length]], { text, addressOf: () => undefined })
  const blocks = makers.flatMap((make) => make())
  return blocks
    .map(({ made }) => markupOf(made))
    .join('')
    .replaceAll(/ (?:dir|role|aria-label|tabindex|class)="[^"]*"/g, '')
    .replaceAll(/\s*(<\/?(?!mark|code|\/)[a-z]+) ?>\s*/g, '$1>')
    .replaceAll(/\s+/g, ' ')
}

test.each([
  ['> a\n> foo\n\n- foo\n- b', 2],
  ['[foo](http://foo.example/foo) foo foo', 3],
  ['| foo | a\\|foo |\n|-|-|\n| `foo\\|b` | foo |', 4],
  ['- a\n\n  ```sh\n  foo\n\n  b foo\n  ```\n- foo', 3],
  ['&amp;foo; <i>foo</i> \\*foo\\*', 3],
  ['<div>\nfoo **x**\n</div>', 1],
])('the matches in %j are highlighted, each once', (source, marks) => {
  expect(shown(source).match(/<mark>foo<\/mark>/g)).toHaveLength(marks)
  expect(shown(source)).not.toMatch(/<(?:i|div)>foo/)
})

test.each([
  ['b.md', '/doc/my%20notes/sub/b.md'],
  ['../x y.md#A b', '/doc/my%20notes/x%20y.md#s-A%20b'],
  ['../../../other/c.md', '/doc/my%20notes/other/c.md'],
  ['/%2e%2e/c.md', '/doc/my%20notes/c.md'],
  ['..\\..\\c.md', '/doc/my%20notes/sub/..%5C..%5Cc.md'],
  ['HTTPS://there.example/a', 'https://there.example/a'],
  ['mailto:me@there.example', 'mailto:me@there.example'],
  ['//there.example/a', undefined],
  ['\\\\there.example\\a', undefined],
  ['JaVaScRiPt:alert(1)', undefined],
  ['\tjavascript:alert(1)', undefined],
  ['java\nscript:alert(1)', undefined],
  ['data:text/html,x', undefined],
  ['file:///etc/passwd', undefined],
  ['doc://other/a.md', undefined],
  ['#absent', undefined],
])('the link %j leads to %j', (href, address) => {
  expect(linkAddress({ uri: 'doc://my%20notes/sub/a.md', headings: [], part: 1 }, href)).toBe(address)
})
