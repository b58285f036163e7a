import { execFile } from 'node:child_process'
import { mkdir, rename, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { eventually } from '../fixtures/process/eventually.ts'
import { closeAfterEach, directoryWith, found, RawSession, search, serve, write } from './served.ts'

closeAfterEach()

test.concurrent.each([
  ['as the system tells of it', false],
  ['by looking, where the system tells nothing', true],
])('a new, changed, moved or deleted file is noticed, %s', async (_, poll) => {
  const { server, directory } = await serve({ 'a.md': 'alpha', 'deep/er/b.md': 'alpha' }, { poll })
  const session = await RawSession.open(server)
  await found(session, 'alpha', ['a.md', 'deep/er/b.md'])

  const changes: readonly (readonly [() => Promise<void>, string, readonly string[]])[] = [
    [() => write(directory, { 'new/c.md': 'gamma' }), 'gamma', ['new/c.md']],
    [() => write(directory, { 'a.md': 'changed' }), 'changed', ['a.md']],
    [() => rename(join(directory, 'new'), join(directory, 'newer')), 'gamma', ['newer/c.md']],
    [() => rm(join(directory, 'deep'), { recursive: true }), 'alpha', []],
    [() => write(directory, { '.gitignore': 'newer/\n' }), 'gamma', []],
  ]
  for (const [change, query, files] of changes) {
    await change()
    await found(session, query, files)
  }
})

test.concurrent('what changes deep in a new, moved or replaced directory is noticed', async () => {
  const { server, directory } = await serve({ 'old/deep/a.md': 'alpha', 'replaced/deep/b.md': 'beta' })
  const session = await RawSession.open(server)
  await found(session, 'alpha', ['old/deep/a.md'])
  await write(directory, { 'z.md': 'watched' })
  await found(session, 'watched', ['z.md'])
  await write(directory, { 'new/deep/er/c.md': 'gamma' })
  await rename(join(directory, 'old'), join(directory, 'moved'))
  await rm(join(directory, 'replaced'), { recursive: true })
  await write(directory, { 'replaced/deep/b.md': 'delta' })
  await found(session, 'alpha', ['moved/deep/a.md'])
  await found(session, 'delta', ['replaced/deep/b.md'])
  await found(session, 'gamma', ['new/deep/er/c.md'])
  const files = ['new/deep/er/c.md', 'moved/deep/a.md', 'replaced/deep/b.md']
  await write(directory, Object.fromEntries(files.map((file) => [file, `changed${file.length}`])))
  for (const file of files) await found(session, `changed${file.length}`, [file])
})

test.concurrent('many files at once are all found', async () => {
  const { server, directory } = await serve({ 'a.md': 'alpha' })
  const session = await RawSession.open(server)
  await found(session, 'alpha', ['a.md'])
  await write(directory, Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`d${i % 7}/${i}.md`, 'beta'])))
  await eventually(async () => expect((await search(session, { query: 'beta' })).total).toBe(200))
})

test.concurrent('an index whose threads die hears of changes when it is started again, and leaves no watch in its process', async () => {
  const program = fileURLToPath(new URL('../fixtures/docs-search/index-that-dies.ts', import.meta.url))
  const directory = await directoryWith({})
  // It rejects when the process is killed by a signal.
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', program, directory], {
    timeout: 100_000,
  })
  expect(stdout).toBe('all found\n')
})

test.concurrent('when the directory vanishes, clients are notified, tools say so, and all is well when it is back', async () => {
  const parent = await directoryWith({ 'docs/a.md': 'alpha' })
  const directory = join(parent, 'docs')
  const { server, log } = await serve({}, { directories: [directory] })
  const session = await RawSession.open(server)
  await found(session, 'alpha', ['a.md'])
  const notifications = await session.listen()
  const changed = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'
  const listed = '{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}'

  /** A scan that is on its way when the directory goes misses the documents first. */
  const both = async (first: ReturnType<typeof notifications.next>): Promise<void> => {
    const heard = new Set([(await first).value])
    while (heard.size < 2) heard.add((await notifications.next()).value)
    expect(heard).toEqual(new Set([changed, listed]))
  }
  const gone = notifications.next()
  await rename(directory, join(parent, 'elsewhere'))
  await both(gone)
  expect(await session.request('tools/list')).toEqual({ tools: [] })
  const answer = await session.call('search_documents', { query: 'alpha' })
  expect(answer).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('docs does not exist any more') }],
  })
  expect(log.join('\n')).toContain(`${directory} is gone`)

  const back = notifications.next()
  await mkdir(directory)
  await write(directory, { 'b.md': 'alpha' })
  await both(back)
  expect(await session.request('tools/list')).toMatchObject({ tools: [{}, {}, {}, {}, {}] })
  await found(session, 'alpha', ['b.md'])
  await write(directory, { 'c.md': 'gamma' })
  await found(session, 'gamma', ['c.md'])
  await notifications.return(undefined)
})

test.concurrent('of two directories one may vanish: the other is searched, and the result says what was not', async () => {
  const parent = await directoryWith({ 'one/a.md': 'alpha', 'two/a.md': 'alpha' })
  const directories = [join(parent, 'one'), join(parent, 'two')]
  const { server } = await serve({}, { directories })
  const session = await RawSession.open(server)
  const both = await search(session, { query: 'alpha' })
  expect(both.results.map(({ uri }) => uri)).toEqual(['doc://one/a.md#L1', 'doc://two/a.md#L1'])
  await rm(directories[1] ?? '', { recursive: true })
  await found(session, 'alpha', ['a.md'])
  const { notice } = await search(session, { query: 'alpha' })
  expect(notice).toBe('Not searched, because it is gone: two.')
})

test.concurrent('ignore files are honoured, nested ones too, and some directories never count', async () => {
  const { server } = await serve({
    '.gitignore': '*.tmp.md\nbuild/\n/top.md\n!kept.tmp.md\n',
    'a.md': 'alpha',
    'x.tmp.md': 'alpha',
    'kept.tmp.md': 'alpha',
    'top.md': 'alpha',
    'sub/top.md': 'alpha',
    'build/a.md': 'alpha',
    'sub/.gitignore': 'secret.md\n',
    'sub/secret.md': 'alpha',
    'sub/deeper/secret.md': 'alpha',
    'sub/.ignore': '!secret.md\n',
    'other/.ignore': '*\n',
    'other/a.md': 'alpha',
    '.git/a.md': 'alpha',
    'pkg/node_modules/x/README.md': 'alpha',
    'code.ts': 'alpha',
  })
  const session = await RawSession.open(server)
  await found(session, 'alpha', ['a.md', 'kept.tmp.md', 'sub/deeper/secret.md', 'sub/secret.md', 'sub/top.md'])
})

test.concurrent('a directory may be named by a symbolic link, and is watched through it', async () => {
  const parent = await directoryWith({ 'real/a.md': 'alpha' })
  await symlink(join(parent, 'real'), join(parent, 'link'))
  const { server } = await serve({}, { directories: [join(parent, 'link')] })
  const session = await RawSession.open(server)
  await found(session, 'alpha', ['a.md'])
  await write(parent, { 'real/b.md': 'beta' })
  await found(session, 'beta', ['b.md'])
})

test.concurrent('nothing behind a symbolic link is found or read', async () => {
  const outside = await directoryWith({ 'secret.md': 'alpha', 'deep/secret.md': 'alpha' })
  const directory = await directoryWith({ 'a.md': 'alpha' })
  await symlink(join(outside, 'secret.md'), join(directory, 'link.md'))
  await symlink(join(outside, 'deep'), join(directory, 'deep'))
  const { server } = await serve({}, { directories: [directory] })
  const session = await RawSession.open(server)
  await found(session, 'alpha', ['a.md'])
})

test.concurrent('texts in the usual encodings are found, binary files and very large ones are not', async () => {
  const gb18030 = new Uint8Array([0xc8, 0xed, 0x52, 0x41, 0x49, 0x44, 0xd5, 0xf3, 0xc1, 0xd0, 0x0a])
  const utf16 = (text: string, big: boolean) => {
    const bytes = Buffer.from(`\ufeff${text}`, 'utf16le')
    return big ? bytes.swap16() : bytes
  }
  const { server, log } = await serve({
    'bom.md': '\ufeff软RAID阵列',
    'gb18030.txt': gb18030,
    'utf16le.md': utf16('软RAID阵列', false),
    'utf16be.md': utf16('软RAID阵列', true),
    'utf8.md': '软RAID阵列',
    'crlf.md': '一\r\n二\r\n软RAID阵列\r\n',
    'binary.md': new Uint8Array([0x73, 0, 0x74]),
    'large.md': `软RAID阵列 ${'x'.repeat(5_000_000)}`,
  })
  const session = await RawSession.open(server)
  await found(session, '软RAID阵列', ['bom.md', 'crlf.md', 'gb18030.txt', 'utf16be.md', 'utf16le.md', 'utf8.md'])
  const { results } = await search(session, { query: '软RAID阵列' })
  expect(results.find(({ file }) => file === 'crlf.md')?.line).toBe(3)
  expect(log.join('\n')).toMatch(/binary\.md is not searched: it is not text/)
  expect(log.join('\n')).toMatch(/large\.md is not searched: it is larger than 5 MB/)
})

test.concurrent('past the limits the first documents are searched, and each result says so', async () => {
  const files = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`${i}.md`, 'alpha']))
  const { server } = await serve(files, { limits: { files: 4 } })
  const session = await RawSession.open(server)
  const page = await search(session, { query: 'alpha' })
  expect(page).toMatchObject({ total: 4, notice: expect.stringMatching(/Only the first 4 documents/) })
  const answer = await session.call('MinDocGlobalSearch', { keyword: 'alpha' })
  expect(answer.content[1]?.text).toMatch(/Only the first 4 documents/)
})
