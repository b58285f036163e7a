import { expect, test } from 'vitest'
import { closeAfterEach, RawSession, search, serve } from './served.ts'

closeAfterEach()

async function over(files: Readonly<Record<string, string>>) {
  const { server } = await serve(files)
  const session = await RawSession.open(server)
  const found = async (query: string, mode = 'best') => {
    const { results, ...page } = await search(session, { query, mode })
    return { ...page, files: results.map(({ file }) => file), results }
  }
  return { session, found }
}

const marked = (snippet: string, ranges: readonly (readonly [number, number])[]) =>
  ranges.map(([start, end]) => snippet.slice(start, end))

test.concurrent('an English word finds its other forms, and what is marked is the word as it stands', async () => {
  const { found } = await over({ 'a.md': 'Servers were Running, and he runs.', 'b.md': 'A ruin.' })
  const { files, results } = await found('run server')
  expect(files).toEqual(['a.md'])
  expect(marked(results[0]?.snippet ?? '', results[0]?.highlights ?? [])).toEqual(['Servers', 'Running', 'runs'])
})

test.concurrent('traditional and simplified characters find each other, and the text is shown as it is written', async () => {
  const { found } = await over({ 't.md': '磁碟陣列與環境變量。', 's.md': '磁盘阵列与环境变量。' })
  for (const query of ['環境變量', '环境变量']) {
    const { results, match } = await found(query)
    expect([match, results.map(({ file }) => file).toSorted()]).toEqual(['all', ['s.md', 't.md']])
    const texts = Object.fromEntries(
      results.map(({ file, snippet, highlights }) => [file, marked(snippet, highlights)]),
    )
    expect(texts).toEqual({ 't.md': ['環境變量'], 's.md': ['环境变量'] })
  }
})

test.concurrent('where no passage has everything, those with most are found, and the answer says so', async () => {
  const { found } = await over({
    'two.md': '如何查看磁盘的空间。',
    'one.md': '磁盘。',
    'none.md': '别的。',
    'title.md': '# Backups of PostgreSQL\n\nIntro.\n\n## Restoring\n\nPoint in time.',
  })
  const best = await found('磁盘剩余空间')
  expect([best.match, best.files]).toEqual(['some', ['two.md', 'one.md']])
  expect(await found('磁盘剩余空间', 'all')).toMatchObject({ total: 0, match: 'all' })
  const inTitle = await found('postgresql restore')
  expect([inTitle.files[0], inTitle.results[0]?.headingPath.at(-1)]).toEqual(['title.md', 'Restoring'])
  expect(await found('postgresql restore', 'all')).toMatchObject({ total: 0 })
})

test.concurrent('a path finds its document', async () => {
  const { found } = await over({ 'guides/install-linux.md': 'Nothing of the kind.', 'b.md': 'Other.' })
  for (const query of ['guides/install-linux.md', 'install linux']) {
    expect((await found(query)).files).toEqual(['guides/install-linux.md'])
  }
})
