import { expect, test } from 'vitest'
import { docx, epub, lying, pdf, zipped } from './packed.ts'
import { closeAfterEach, found, RawSession, search, serve, write } from './served.ts'

closeAfterEach()

test('PDF, Word and EPUB are searched and read like any document, each hit with its page or chapter', async () => {
  const { server } = await serve({
    'paper.pdf': pdf(['Introduction\nnothing here', 'On snapshots\nA snapshot (of a volume) is cheap.'], 'Storage'),
    'untitled.pdf': pdf(['quux']),
    'report.docx': docx(['# Report', 'Summary.', '## Disks', 'The snapshot of June failed.', '阵列已重建。']),
    'book.epub': epub('The Book', [
      ['First', 'Before.'],
      ['Second &amp; last', 'A snapshot at the end.'],
    ]),
  })
  const session = await RawSession.open(server)
  await found(session, 'snapshot', ['book.epub', 'paper.pdf', 'report.docx'])
  const { results } = await search(session, { query: 'snapshot' })
  expect(Object.fromEntries(results.map(({ file, title, headingPath }) => [file, [title, ...headingPath]]))).toEqual({
    'paper.pdf': ['Storage', 'Page 2'],
    'report.docx': ['Report', 'Report', 'Disks'],
    'book.epub': ['The Book', 'Second & last'],
  })
  await found(session, '阵列', ['report.docx'])
  expect((await search(session, { query: 'quux' })).results).toMatchObject([{ title: 'untitled' }])
  const uri = results.find(({ file }) => file === 'paper.pdf')?.uri ?? ''
  const page = await session.call('read_document', { uri: uri.replace(/#.*/, '#page-2') })
  expect(page.structuredContent).toMatchObject({ text: expect.stringMatching(/^On snapshots\nA snapshot \(of/) })
  const outline = await session.call('outline', { uri })
  expect(outline.structuredContent).toMatchObject({ headings: [{ title: 'Page 1' }, { title: 'Page 2' }] })
})

const word = 'word/document.xml'

test('a poisoned file costs only itself', async () => {
  const bomb = zipped({ [word]: new Uint8Array(210_000_000) })
  const { server, directory, log } = await serve(
    {
      'good.docx': docx(['alpha']),
      'bomb.docx': bomb,
      'lying.docx': lying(zipped({ [word]: new Uint8Array(90_000_000) })),
      'garbage.pdf': 'this is not a PDF',
      'cut.epub': epub('x', [['a', 'b']]).slice(0, 200),
      'empty.docx': '',
      'good.pdf': pdf(['alpha']),
      'a.md': 'alpha',
    },
    { extract: { milliseconds: 4_000 } },
  )
  const session = await RawSession.open(server)
  await found(session, 'alpha', ['a.md', 'good.docx', 'good.pdf'])
  for (const name of ['bomb.docx', 'lying.docx', 'garbage.pdf', 'cut.epub', 'empty.docx']) {
    expect(log.filter((line) => line.includes(`${name} is not searched: it `))).toHaveLength(1)
  }
  await write(directory, { 'later.docx': docx(['alpha']) })
  await found(session, 'alpha', ['a.md', 'good.docx', 'good.pdf', 'later.docx'])
})

test('a file that takes too long or too much is left, and the next one is read', async () => {
  // Longer than that on any machine.
  const pages = Array.from({ length: 4_000 }, (_, i) => `page ${i}\n`.repeat(40))
  const files = { 'b-long.pdf': pdf(pages), 'a.docx': docx(['alpha']), 'c.docx': docx(['alpha']) }
  const slow = await serve(files, { extract: { milliseconds: 300 } })
  await expect.poll(() => slow.log.join('\n')).toMatch(/b-long\.pdf .* longer than 0\.3 s/)
  const greedy = await serve({ ...files, 'a.docx': 'x', 'c.docx': 'x' }, { extract: { megabytes: 1 } })
  await expect.poll(() => greedy.log.join('\n')).toMatch(/b-long\.pdf .* more than 1 MB/)
})

test('source code is searched where it is asked for', async () => {
  const files = { 'a.md': 'readFile', 'src/a.ts': 'const x = readFile(path)', Makefile: 'readFile: all' }
  const plain = await serve(files)
  await found(await RawSession.open(plain.server), 'readFile', ['a.md'])
  const withCode = await serve(files, { code: true })
  await found(await RawSession.open(withCode.server), 'readFile', ['Makefile', 'a.md', 'src/a.ts'])
})
