import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { closeAfterEach, directoryWith, found, RawSession, search, serve, write } from './served.ts'

closeAfterEach()

async function kept(files: Readonly<Record<string, string>>) {
  const directory = await directoryWith(files)
  const indexFile = join(await directoryWith({}), 'deep', 'index.sqlite')
  return { directory, indexFile, open: () => serve({}, { directories: [directory], indexFile }) }
}

test('a server that starts again goes on with the index that it had, also with its cursors', async () => {
  const { directory, open } = await kept(Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`${i}.md`, 'alpha'])))
  const first = await open()
  const before = await RawSession.open(first.server)
  const { nextCursor, results } = await search(before, { query: 'alpha' })
  await first.server.close()

  const second = await open()
  const session = await RawSession.open(second.server)
  const next = await search(session, { query: 'alpha', cursor: nextCursor })
  const files = new Set([...results, ...next.results].map(({ file }) => file))
  expect([next.total, files.size]).toEqual([30, 20])
  await second.server.close()

  await write(directory, { 'new.md': 'alpha' })
  const third = await RawSession.open((await open()).server)
  await expect.poll(async () => (await search(third, { query: 'alpha' })).total).toBe(31)
  await expect(search(third, { query: 'alpha', cursor: nextCursor })).rejects.toThrow(/Search again without/)
})

test('a second server of the same index, and one whose file is damaged, search all the same', async () => {
  const { indexFile, open } = await kept({ 'a.md': 'alpha' })
  const first = await open()
  await found(await RawSession.open(first.server), 'alpha', ['a.md'])
  const second = await open()
  await found(await RawSession.open(second.server), 'alpha', ['a.md'])
  expect(second.log.join('\n')).toMatch(/for this run only, because .*another process uses it/)
  await Promise.all([first.server.close(), second.server.close()])
  await writeFile(indexFile, 'not a database, but long enough to be taken for one'.repeat(50))
  const third = await open()
  await found(await RawSession.open(third.server), 'alpha', ['a.md'])
  expect(third.log.join('\n')).not.toContain('for this run only')
})
