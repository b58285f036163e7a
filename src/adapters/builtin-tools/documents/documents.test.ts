import { expect, onTestFinished, test } from 'vitest'
import { openStage, type Setting } from '../../../../test/fixtures/tools/stage.ts'
import { systemClock } from '../../clock.ts'
import { DocumentIndexes } from './document-indexes.ts'

async function stageWith(setting: Setting) {
  const stage = await openStage(setting)
  onTestFinished(() => stage.close())
  return stage
}

const HARBOUR = '# Harbour\n\nThe lighthouse shines.\n\n## Ferries\n\nThe ferry leaves at noon.\n'

test('a passage is found with its place, and can be read further by its address', async () => {
  const stage = await stageWith({ files: { 'guide/harbour.md': HARBOUR } })
  const { structured } = await stage.call('search_documents', { query: 'noon' })
  expect(structured).toMatchObject({
    total: 1,
    match: 'all',
    results: [{ file: 'guide/harbour.md', line: 7, uri: 'doc://inside/guide/harbour.md#L5' }],
  })
  const said = await stage.say('search_documents', { query: 'noon' })
  expect(said).toContain('1. guide/harbour.md:7 (Harbour > Ferries)')
  const read = await stage.say('read_document', { uri: 'doc://inside/guide/harbour.md#ferries' })
  expect(read).toBe('guide/harbour.md:5\n\n## Ferries\n\nThe ferry leaves at noon.\n')
})

test('pages follow each other by offset', async () => {
  const files = Object.fromEntries([1, 2, 3].map((n) => [`${n}.md`, `# ${n}\n\nalpha\n`]))
  const stage = await stageWith({ files })
  const first = await stage.say('search_documents', { query: 'alpha', limit: 2 })
  expect(first).toContain('3 passages found; here are 1 to 2.')
  expect(first).toContain('More with offset 2')
  const last = await stage.say('search_documents', { query: 'alpha', limit: 2, offset: 2 })
  expect(last).toContain('here are 3 to 3.')
  expect(last).not.toContain('More with')
})

test('a file of an additional directory has a path that the other tools can read', async () => {
  const stage = await stageWith({ files: { 'main/a.md': 'nothing', 'further/b.md': '# B\n\nThe zebra sleeps.\n' } })
  const roots = [stage.path('main'), stage.path('further')]
  const { structured } = await stage.call('search_documents', { query: 'zebra' }, { roots })
  expect(structured).toMatchObject({ results: [{ file: stage.path('further/b.md') }] })
})

test.each([
  ['', 'query'],
  ['?!', 'The query has no letter or number in it'],
  [Array.from({ length: 65 }, (_, n) => `w${n}`).join(' '), 'The query has 65 words'],
  ['x'.repeat(1_001), 'The query has 1001 characters'],
])('the query %j is refused with advice', async (query, words) => {
  const stage = await stageWith({})
  const answer = await stage.call('search_documents', { query }).then(
    ({ content }) => JSON.stringify(content),
    (error: Error) => error.message,
  )
  expect(answer).toContain(words)
})

test('a document that rules protect is in no result and no count, and its address is refused whether it exists or not', async () => {
  const files = { 'open.md': 'alpha', 'secret/a.md': 'alpha 4711' }
  const stage = await stageWith({ files, documentRules: { denied: ['secret/**'] } })
  const said = await stage.say('search_documents', { query: 'alpha' })
  expect(said).toContain('1 passage found')
  expect(said).not.toContain('4711')
  const [there, missing] = await Promise.all(
    ['a', 'b'].map((name) => stage.say('read_document', { uri: `doc://inside/secret/${name}.md` })),
  )
  expect(missing).toBe(there?.replace('a.md', 'b.md'))
})

test('sessions of the same directories share one index, and it ends with the last of them', async () => {
  const stage = await stageWith({ files: { 'a.md': 'alpha' } })
  const indexes = new DocumentIndexes({
    workerUrl: new URL('../../../../dist/docs-worker.cjs', import.meta.url),
    access: async (roots) => ({ roots, denied: [], asked: [], own: [] }),
    log: () => undefined,
  })
  onTestFinished(() => indexes.close())
  const [one, two] = [{ id: systemClock.id() }, { id: systemClock.id() }]
  const [first, second] = await Promise.all([one, two].map((user) => indexes.open([stage.dir], user)))
  expect(first?.index).toBe(second?.index)
  const request = { query: 'alpha', mode: 'all', limit: 1, offset: 0 } as const
  const search = async () => (await first?.index.passages({ ...request, ...first.scope }))?.total

  await indexes.release(one)
  await indexes.release(one)
  expect(await search()).toBe(1)
  await indexes.release(two)
  await expect(search()).rejects.toMatchObject({ code: 'DOCS_INDEX_UNAVAILABLE' })
  const again = await indexes.open([stage.dir], one)
  expect(again.index).not.toBe(first?.index)
})
