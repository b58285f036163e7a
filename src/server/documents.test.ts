import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openSharedDocuments } from './documents.ts'

test('sessions of the same directories share one index, and it ends with the last of them', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'parley-shared-'))
  await writeFile(join(directory, 'a.md'), 'alpha')
  const documents = openSharedDocuments(() => undefined)
  onTestFinished(async () => {
    await documents.close()
    await rm(directory, { recursive: true })
  })
  const [one, two] = [{ roots: [directory] }, { roots: [directory] }]
  const places = await Promise.all([one, two, two].map((request) => documents.builtin.connect(request)))
  const first = places[0]
  const url = first !== undefined && 'url' in first ? first.url : ''
  expect(new Set(places.map((place) => ('url' in place ? place.url : '')))).toEqual(new Set([url]))

  await documents.builtin.release(one)
  await documents.builtin.release(one)
  expect((await fetch(url)).status).toBe(401)
  await documents.builtin.release(two)
  await expect(fetch(url)).rejects.toThrow(/fetch failed/)
  expect(await documents.builtin.connect(one)).toMatchObject({ url: expect.not.stringMatching(url) })
})
