/** Converting an HTML page takes bounded time, also for a hostile page. */
import { describe, expect, test } from 'vitest'
import { readablePage } from './html-to-text.ts'

const base = new URL('https://a.example/b/')

describe('a page', () => {
  test('has its title and its readable text', () => {
    const html = `<!doctype html><head><title>A &amp; B</title><style>p > b {}</style></head><!-- <p>no -->
<h1 class='x > y' id=z>Hi</h1><p title="a > b">It isn't <a href=c>far</a>.<svg><title>no</title></svg> 1 < 2`
    expect(readablePage(html, base)).toEqual({
      title: 'A & B',
      text: "# Hi\n\nIt isn't far (https://a.example/b/c). 1 < 2",
    })
  })

  test('with unclosed tags costs no more than one without', () => {
    for (const piece of ['<title ', '<a ', '<a "', '<a b="', "<a b='", '<!', '<!--', '<a<', '</', '&', '<p - '])
      expect(typeof readablePage(piece.repeat(200_000), base).text).toBe('string')
    const unmatched = `${'<div>'.repeat(200_000)}${'</x>'.repeat(200_000)}end`
    expect(readablePage(unmatched, base).text).toBe('end')
    expect(readablePage(`<pre>a${' '.repeat(500_000)}b`, base).text).toContain('b')
  })
})
