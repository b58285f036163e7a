/** Documents that are made to be costly are shown all the same, as text where their Markdown is too deep or too long. */
import { expect, test } from 'vitest'
import { closeAfterEach, serve } from '../served.ts'
import { readPage } from './html.ts'
import { Visitor } from './visitor.ts'

closeAfterEach()

test('Markdown that is made to be costly is shown as text as far as it is too deep or too long', async () => {
  const costly = {
    'quotes.md': `${'> '.repeat(20_000)}alpha`,
    'items.md': `${'- '.repeat(10_000)}alpha`,
    'deep.md': Array.from({ length: 10_000 }, (_, i) => `${' '.repeat(2 * Math.min(i, 150))}- alpha ${i}`).join('\n'),
    'open.md': `alpha ${'['.repeat(60_000)}`,
    'stars.md': `alpha ${'*a **b '.repeat(9_000)}`,
    'ticks.md': `alpha ${Array.from({ length: 300 }, (_, i) => '`'.repeat(i)).join(' ')}`,
    'table.md': `alpha\n\n${'|a'.repeat(100)}\n${'|-'.repeat(100)}\n${'|b\n'.repeat(19_000)}`,
    'large.md': `# alpha\n\n${'- **alpha** [x](y.md) `z`\n'.repeat(190_000)}`,
  }
  const { server } = await serve(costly)
  const visitor = await Visitor.signedIn(server)
  // A page waits a few seconds for the index, which a busy machine may need more of.
  await expect.poll(async () => (await visitor.get('/')).text).not.toMatch(/still|for the first time/)
  for (const file of Object.keys(costly)) {
    const name = /href="(\/in\/[^"]+)"/.exec((await visitor.get('/')).text)?.[1]?.slice(4) ?? ''
    const { status, text } = await visitor.get(`/doc/${name}/${file}?q=alpha`)
    expect([file, status, readPage(text).elements.some((element) => element.name === 'mark')]).toEqual([
      file,
      200,
      true,
    ])
  }
})
