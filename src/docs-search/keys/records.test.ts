import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { newDirectory } from '../../../test/fixtures/process/new-directory.ts'
import { loadKey } from './keys.ts'
import { addKey, keyRecords } from '../collections/state.ts'

let home: string
beforeEach(() => void (home = newDirectory()))

test('of several keys of one name that are added at once one is stored, and the others are refused', async () => {
  const records = keyRecords(home)
  const added = await Promise.allSettled([1, 2, 3, 4].map(() => addKey(records, 'same')))
  const refused = added.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []))
  expect(refused).toHaveLength(3)
  expect(refused).toMatchObject(refused.map(() => ({ code: 'DOCS_NAME_TAKEN' })))
  expect(readdirSync(join(home, 'docs-keys'))).toEqual(['same.json'])
})

test('several servers that create the key file at once have the same key', async () => {
  const loading = Array.from({ length: 8 }, () => loadKey({ file: join(home, 'docs.key'), loopback: true }))
  const keys = new Set((await Promise.all(loading)).map(({ key }) => key))
  expect(keys.size).toBe(1)
  expect(readdirSync(home)).toEqual(['docs.key'])
})
