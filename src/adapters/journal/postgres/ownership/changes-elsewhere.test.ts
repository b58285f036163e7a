import { expect, test } from 'vitest'
import type { SessionSummary } from '../../../../ports/journal.ts'
import { changesIn } from './changes-elsewhere.ts'

const row = (id: string, lastSeq: number) => ({ id, lastSeq, updatedAt: lastSeq }) as SessionSummary
const known = (...rows: readonly SessionSummary[]) => new Map(rows.map((one) => [one.id, one]))

test('sessions that are new, changed or gone since the last query are reported, the oldest first; no others are', () => {
  const [same, old, gone] = [row('same', 1), row('grown', 2), row('gone', 3)]
  const [grown, made] = [row('grown', 4), row('made', 5)]
  expect(changesIn(known(gone, old, same), [made, grown, same])).toEqual([
    { kind: 'removed', id: 'gone' },
    { kind: 'changed', row: grown },
    { kind: 'changed', row: made },
  ])
})

test('a session that others have pushed out of the newest is not gone', () => {
  const before = Array.from({ length: 200 }, (_, index) => row(`s${index}`, 200 - index))
  const made = row('made', 201)
  expect(changesIn(known(...before), [made, ...before.slice(0, -1)])).toEqual([{ kind: 'changed', row: made }])
})
