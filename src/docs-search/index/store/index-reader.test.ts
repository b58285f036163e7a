import { join } from 'node:path'
import { expect, test } from 'vitest'
import { newDirectory } from '../../../../test/fixtures/process/new-directory.ts'
import type { IndexWriter } from './index-writer.ts'
import { IndexReader } from './index-reader.ts'
import { openIndexDatabase } from './open.ts'

function put(database: IndexWriter, collection: number, file: string): void {
  const passage = { headingPath: [], line: 1, text: 'alpha', heading: '', body: 'alpha' }
  const times = { stamp: file, created: '2026-01-01', modified: '2026-01-01' }
  const uri = `doc://notes/${file}`
  database.put({ collection, file, uri, title: file, mimeType: 'text/plain', bytes: 5, ...times, passages: [passage] })
}

test('a query during a write does not wait, and sees the index before the write', async () => {
  const directory = newDirectory()
  const { database, file, release } = openIndexDatabase(join(directory, 'index.sqlite'), () => undefined)
  const collection = database.collection('notes')
  const lookup = new IndexReader(file)
  const count = () => lookup.countPassages({ expression: 'alpha', scope: null, hidden: [] })
  const state = () => lookup.snapshot(() => [count(), lookup.generation])
  const [, empty] = state()
  database.change(() => {
    put(database, collection, 'a.md')
    expect(state()).toEqual([0, empty])
  })
  const [one, generation] = state()
  expect([one, generation === empty]).toEqual([1, false])
  lookup.snapshot(() => {
    expect(count()).toBe(1)
    database.change(() => put(database, collection, 'b.md'))
    expect([count(), lookup.generation]).toEqual([1, generation])
  })
  expect(state()[0]).toBe(2)
  lookup[Symbol.dispose]()
  database[Symbol.dispose]()
  release()
})
