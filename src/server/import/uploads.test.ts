/** Uploads that are wrong, given up or too large leave nothing behind and reach nothing else. */
import { readFileSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { newDirectory } from '../../../test/fixtures/process/new-directory.ts'
import { Uploads } from './uploads.ts'

let home: string
beforeEach(() => void (home = newDirectory()))

const uploads = (maxBytes?: number): Uploads => {
  let ids = 0
  return new Uploads(home, { now: () => 10_000_000, id: () => `upload-${(ids += 1)}` }, maxBytes)
}

test('parts are put together in their order, for the user of the server alone', () => {
  const all = uploads()
  const id = all.append(undefined, Buffer.from('one '))
  const other = all.append(undefined, Buffer.from('other'))
  expect(all.append(id, Buffer.from('two'))).toBe(id)
  expect(readFileSync(all.pathOf(id), 'utf8')).toBe('one two')
  expect(statSync(all.pathOf(id)).mode & 0o777).toBe(0o600)
  all.remove(id)
  expect(() => all.pathOf(id)).toThrow('no such upload')
  expect(readFileSync(all.pathOf(other), 'utf8')).toBe('other')
})

test.each(['', '..', '../journal', '../../x', 'a/b', 'no-such', 'x'.repeat(65), 'a\0'])(
  'an upload %j is none',
  (id) => {
    writeFileSync(join(home, 'journal.jsonl'), 'kept')
    expect(() => uploads().append(id, Buffer.from('x'))).toThrow('no such upload')
    expect(() => uploads().remove(id)).toThrow('no such upload')
    expect(readFileSync(join(home, 'journal.jsonl'), 'utf8')).toBe('kept')
  },
)

test('all uploads together have a limit, and one that was given up makes room after an hour', () => {
  const all = uploads(10)
  const id = all.append(undefined, Buffer.alloc(8))
  expect(() => all.append(id, Buffer.alloc(3))).toThrow('Copy the file')
  expect(() => all.append(undefined, Buffer.alloc(3))).toThrow('Copy the file')
  utimesSync(all.pathOf(id), 0, 0)
  const next = all.append(undefined, Buffer.alloc(10))
  expect(readdirSync(join(home, 'uploads'))).toEqual([`${next}.jsonl`])
})
