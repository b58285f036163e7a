/** Where updates stand in their conversation, and what a page of them has. */
import { expect, test } from 'vitest'
import * as say from '../../../../../test/sim/words.ts'
import type { Body } from '../../../../session/domain/entries.ts'
import { FULL_DISPLAY } from '../initialize/client-capabilities.ts'
import { pageOut } from './page.ts'
import { PlacedEntries } from './places.ts'

const at = (seq: number) => ({ 'parley/seq': seq, 'parley/at': seq * 1000 })
const entriesOf = (...bodies: readonly Body[]) =>
  bodies.map((body, n) => Object.assign({ seq: n + 1, at: (n + 1) * 1000 }, body))

test('an update has the turn that began last, the sender of a user’s word, and the first of several entries', () => {
  const places = new PlacedEntries(0)
  const first = { seq: 5, at: 5000 }
  const by = 'Ada'
  const entries = entriesOf(
    say.titled('x'),
    say.turnStarted(1, 'p1'),
    { ...say.userSaid(1, 'p1', 'x'), by } as Body,
    say.userSaid(1, 'p1', 'y'),
    { ...say.ended(1, 'p1', 'cancelled'), by } as Body,
    Object.assign({ first }, say.agentSaid('t1-late', 'x')),
  )
  expect(entries.map((entry) => places.next(entry))).toStrictEqual([
    at(1),
    { ...at(2), 'parley/turn': 't1' },
    { ...at(3), 'parley/turn': 't1', 'parley/by': by },
    { ...at(4), 'parley/turn': 't1' },
    { ...at(5), 'parley/turn': 't1' },
    { ...at(6), 'parley/turn': 't1', 'parley/first': first },
  ])
})

test('a page has the updates that a load sends, how permission requests ended, and where it begins', () => {
  const entries = entriesOf(
    say.turnStarted(3, 'p3'),
    say.titled('Old'),
    say.asked('r1', 'c1'),
    { ...say.resolved('r1', say.yes), by: 'Ada' } as Body,
    say.titled('New'),
    say.resolved('r0', say.nobody),
  )
  expect(pageOut('s-1', { entries, from: 7, more: true, turn: 2 }, FULL_DISPLAY)).toStrictEqual({
    updates: [
      {
        sessionId: 's-1',
        update: { sessionUpdate: 'session_info_update', title: 'New' },
        _meta: { ...at(5), 'parley/turn': 't3' },
      },
    ],
    resolved: [
      { requestId: 'r1', toolCallId: 'c1', outcome: say.yes, by: 'Ada', at: 4000, seq: 4 },
      { requestId: 'r0', outcome: say.nobody, at: 6000, seq: 6 },
    ],
    from: 7,
    more: true,
  })
})
