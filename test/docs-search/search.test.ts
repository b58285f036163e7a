import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { closeAfterEach, found, type FoundPassages, RawSession, search, serve, write } from './served.ts'

closeAfterEach()

/** All results of a query, page by page. */
async function everything(session: RawSession, query: string): Promise<FoundPassages['results']> {
  const results: FoundPassages['results'][number][] = []
  let cursor: string | undefined
  do {
    const page = await search(session, { query, mode: 'all', limit: 50, ...(cursor === undefined ? {} : { cursor }) })
    results.push(...page.results)
    cursor = page.nextCursor
    expect(page.total).toBeGreaterThanOrEqual(results.length)
    if (cursor === undefined) expect(page.total).toBe(results.length)
  } while (cursor !== undefined)
  return results
}

interface WrittenPassage {
  readonly file: string
  readonly line: number
  readonly text: string
}

const PIECES = [
  '软RAID',
  '软件',
  '硬RAID',
  '阵列',
  '磁盘',
  '卷组',
  '卷',
  '列',
  '阵',
  '配置',
  '重建',
  'mdadm',
  '𠮷野',
  '快照',
]
const JOINTS = ['', '', '', '，', '。', '、', '：', '（', '）', ' / ']

/** Sections of random words, each short enough to be one passage; what they say is known without any index. */
function library(seed: number): { files: Record<string, string>; passages: readonly WrittenPassage[] } {
  const [sentences] = fc.sample(
    fc.array(
      fc.array(fc.tuple(fc.constantFrom(...PIECES), fc.constantFrom(...JOINTS)), { minLength: 3, maxLength: 25 }),
      { minLength: 120, maxLength: 120 },
    ),
    { seed, numRuns: 1 },
  )
  const files: Record<string, string> = {}
  const passages: WrittenPassage[] = []
  for (const [i, sentence] of (sentences ?? []).entries()) {
    const file = `卷${i % 20}/文档${i % 40}.md`
    const text = `## 第${i}节\n\n${sentence.flat().join('')}。`
    const before = files[file] ?? ''
    passages.push({ file, line: before.split('\n').length, text })
    files[file] = `${before}${text}\n\n`
  }
  return { files, passages }
}

const place = ({ file, line }: { file: string; line: number }) => `${file}:${line}`

test.concurrent.each([1, 2])(
  'in a folder of Chinese Markdown every passage with the words is found, and no other (%i)',
  async (seed) => {
    const { files, passages } = library(seed)
    const { server } = await serve(files)
    const session = await RawSession.open(server)
    for (const query of ['软RAID', '阵列', '卷', '列卷', '阵列卷组', '𠮷野', '盘阵列重']) {
      const wanted = passages.filter(({ text }) => text.includes(query))
      const results = await everything(session, query)
      const lines = wanted.map(({ file, line, text }) => ({
        file,
        line: line + text.slice(0, text.indexOf(query)).split('\n').length - 1,
      }))
      expect([query, ...results.map(place).toSorted()]).toEqual([query, ...lines.map(place).toSorted()])
      for (const { snippet, highlights } of results) {
        expect(highlights.length).toBeGreaterThan(0)
        for (const [start, end] of highlights) expect(snippet.slice(start, end)).toMatch(new RegExp(`^(${query})+$`))
      }
    }
    for (const query of ['软RAID 阵列', '卷 快照 磁盘']) {
      const wanted = passages.filter(({ text }) => query.split(' ').every((word) => text.includes(word)))
      expect(await everything(session, query)).toHaveLength(wanted.length)
    }
  },
)

test.concurrent('a result says where it stands, in which words, and where to read on', async () => {
  const text = '# Guide\n\nIntro.\n\n## Setup\n\n### Linux\n\nFirst line.\nRun `mdadm --create` to build\nthe array.\n'
  const { server } = await serve({ 'docs/guide.md': text })
  const session = await RawSession.open(server)
  const { results } = await search(session, { query: 'mdadm create' })
  const snippet = '## Setup\n\n### Linux\n\nFirst line.\nRun `mdadm --create` to build\nthe array.'
  const [mdadm, create] = [snippet.indexOf('mdadm'), snippet.indexOf('create')]
  expect(results).toEqual([
    {
      title: 'Guide',
      headingPath: ['Guide', 'Setup', 'Linux'],
      collection: expect.any(String),
      file: 'docs/guide.md',
      line: 10,
      snippet,
      highlights: [
        [mdadm, mdadm + 5],
        [create, create + 6],
      ],
      score: expect.any(Number),
      modified: expect.stringMatching(/Z$/),
      uri: expect.stringMatching(/^doc:\/\/[^/]+\/docs\/guide\.md#L5$/),
    },
  ])
  const read = await session.call('read_document', { uri: results[0]?.uri })
  expect(read.structuredContent).toMatchObject({ file: 'docs/guide.md', line: 5, title: 'Guide', text: `${snippet}\n` })
  const answer = await session.call('search_documents', { query: 'mdadm' })
  expect(answer.content[0]?.text).toContain('docs/guide.md:10 (Guide > Setup > Linux)')
})

test.concurrent('the words next to each other come before the words apart, and a heading before the text', async () => {
  const filler = 'Something else is said here at some length, so that nothing depends on it. '
  const { server } = await serve({
    'apart.md': `The group is told of a commit. commit group commit ${filler}`,
    'together.md': `${filler}${filler} A group commit is one fsync. ${filler}`,
    'heading.md': `# Snapshot\n\n${filler}`,
    'text.md': `# Other\n\n${filler} A snapshot.`,
  })
  const session = await RawSession.open(server)
  const files = async (query: string) => (await search(session, { query })).results.map(({ file }) => file)
  expect(await files('group commit')).toEqual(expect.arrayContaining(['together.md', 'apart.md']))
  expect((await files('one fsync'))[0]).toBe('together.md')
  expect((await files('told commit'))[0]).toBe('apart.md')
  expect(await files('snapshot')).toEqual(['heading.md', 'text.md'])
})

test.concurrent('a long section becomes several passages, and nothing of it is lost', async () => {
  const words = Array.from({ length: 900 }, (_, i) => `word${i}`)
  const { server } = await serve({ 'long.md': `# Long\n\n${words.join(' ')}\n` })
  const session = await RawSession.open(server)
  for (const word of ['word0', 'word450', 'word899']) {
    const { results } = await search(session, { query: word })
    expect(results).toMatchObject([{ headingPath: ['Long'], line: 3 }])
    expect(results[0]?.snippet.length).toBeLessThanOrEqual(800)
  }
})

test.concurrent('pages of MinDocGlobalSearch hold ten documents and the same total, with numbers as strings too', async () => {
  const files = Object.fromEntries(
    Array.from({ length: 25 }, (_, i) => [`${i}.md`, `# 阵列 ${i}\n\n## 一\n\n软RAID\n`]),
  )
  const { server } = await serve({ ...files, 'other.md': '软RAID' })
  const session = await RawSession.open(server)
  const identified: string[] = []
  for (const [pageIndex, count] of [
    [1, 10],
    ['2', 10],
    [3, 5],
    [4, 0],
    [1e9, 0],
  ] as const) {
    const answer = await session.call('MinDocGlobalSearch', { keyword: '软RAID 阵列', pageIndex })
    const { result, totalCount } = answer.structuredContent as { result: { identify: string }[]; totalCount: number }
    expect([totalCount, result.length]).toEqual([25, count])
    identified.push(...result.map(({ identify }) => identify))
  }
  expect(new Set(identified).size).toBe(25)
})

test.concurrent('a document counts once, however many of its passages match', async () => {
  const { server } = await serve({ 'a.md': '# 卷\n\n卷\n\n# 卷二\n\n卷\n', 'b.md': '卷' })
  const session = await RawSession.open(server)
  const { structuredContent } = await session.call('MinDocGlobalSearch', { keyword: '卷' })
  expect(structuredContent).toMatchObject({ totalCount: 2, result: [{}, {}] })
  expect(await search(session, { query: '卷' })).toMatchObject({ total: 3 })
})

test.concurrent('a bad argument is answered with what to do, never with an empty result', async () => {
  const { server } = await serve({ 'a.md': '# A\n\nalpha beta' })
  const session = await RawSession.open(server)
  const { nextCursor } = await search(session, { query: 'alpha' })
  expect(nextCursor).toBeUndefined()
  const cases: readonly (readonly [string, object, RegExp])[] = [
    ['search_documents', {}, /query is missing/],
    ['search_documents', { query: 7 }, /query must be a string/],
    ['search_documents', { query: '？！ ()' }, /no letter or number/],
    ['search_documents', { query: 'x'.repeat(1_000_000) }, /at most 1000/],
    ['search_documents', { query: Array.from({ length: 65 }, (_, i) => `w${i}`).join(' ') }, /at most 64/],
    ['search_documents', { query: 'a', limit: 0 }, /whole number from 1 to 50/],
    ['search_documents', { query: 'a', limit: 1.5 }, /whole number/],
    ['search_documents', { query: 'a', cursor: 'nonsense' }, /not from this server/],
    ['MinDocGlobalSearch', { keyword: 'a', pageIndex: 0 }, /whole number from 1/],
    ['MinDocGlobalSearch', { keyword: 'a', pageIndex: -1 }, /whole number from 1/],
    ['MinDocGlobalSearch', { keyword: 'a', pageIndex: 'two' }, /whole number from 1/],
    ['read_document', { uri: 'file:///etc/passwd' }, /no document file:\/\/\/etc\/passwd/],
    ['read_document', { uri: 'doc://x/../../etc/passwd' }, /no document/],
  ]
  for (const [tool, args, sentence] of cases) {
    const answer = await session.call(tool, args)
    expect(answer).toMatchObject({ isError: true, content: [{ text: expect.stringMatching(sentence) }] })
    expect(answer.structuredContent).toBeUndefined()
  }
  expect(await session.call('delete_everything', {})).toMatchObject({ code: -32602 })
})

test.concurrent('a cursor of an older state of the documents is refused with advice', async () => {
  const files = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`${i}.md`, 'alpha']))
  const { server, directory } = await serve(files)
  const session = await RawSession.open(server)
  const { nextCursor } = await search(session, { query: 'alpha' })
  expect(await search(session, { query: 'alpha', cursor: nextCursor })).toMatchObject({ total: 30 })
  await expect(search(session, { query: 'beta', cursor: nextCursor })).rejects.toThrow(/not from this server/)
  await write(directory, { 'new.md': 'beta' })
  await found(session, 'beta', ['new.md'])
  await expect(search(session, { query: 'alpha', cursor: nextCursor })).rejects.toThrow(/Search again without/)
})

test.concurrent('read_document goes through a document in pieces, or through one section', async () => {
  const lines = Array.from({ length: 300 }, (_, i) => `第${i}行：内容𠮷。`)
  const text = `# 一\n\n${lines.join('\n')}\n\n## 二\n\n小节\n\n### 三\n\n末尾\n\n# 四\n\n完\n`
  const { server } = await serve({ '文档.md': text })
  const session = await RawSession.open(server)
  const uri = (await search(session, { query: '小节' })).results[0]?.uri.replace(/#.*/, '')
  let whole = ''
  let offset: number | undefined = 0
  while (offset !== undefined) {
    const { structuredContent } = await session.call('read_document', { uri, offset, limit: 101 })
    const piece = structuredContent as { text: string; nextOffset?: number; line: number }
    expect(piece.line).toBe(whole.split('\n').length)
    whole += piece.text
    offset = piece.nextOffset
  }
  expect(whole).toBe(text)
  const section = await session.call('read_document', { uri, section: '一 > 二' })
  expect(section.structuredContent).toMatchObject({ text: '## 二\n\n小节\n\n### 三\n\n末尾\n\n' })
  const unknown = await session.call('read_document', { uri, section: '五' })
  expect(unknown.content[0]?.text).toMatch(/no section "五".*一; 一 > 二; 一 > 二 > 三; 四/)
})
