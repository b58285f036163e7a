/** The document search page and this one are one product: what both have a colour for has the same one. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

/** The colours by their names, light and then dark. */
function coloursOf(path: string): readonly ReadonlyMap<string, string>[] {
  const text = readFileSync(new URL(path, import.meta.url), 'utf8')
  return [...text.matchAll(/:root \{([^}]*--paper[^}]*)\}/gu)].map(
    ([, block = '']) =>
      new Map([...block.matchAll(/--([\w-]+): (#\w+)/gu)].map(([, name = '', colour = '']) => [name, colour])),
  )
}

test.each(['light', 'dark'])('the document search page has the colours of this one, %s', (scheme) => {
  const at = scheme === 'light' ? 0 : 1
  const [ours, theirs = new Map<string, string>()] = ['./page.css', '../../docs-search/web/parts/style.ts'].map(
    (path) => coloursOf(path)[at],
  )
  const common = [...(ours ?? [])].filter(([name]) => theirs.has(name))
  expect(common.length).toBeGreaterThan(8)
  expect(common.filter(([name, colour]) => theirs.get(name) !== colour)).toEqual([])
})
