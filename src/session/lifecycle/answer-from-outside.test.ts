/** A permission request is answered without attaching: the first valid answer counts, and every later one learns of it. */
import { expect, test } from 'vitest'
import { diskAfter } from '../../../test/sim/given.ts'
import { House, here } from '../../../test/sim/house.ts'
import { deaf } from '../../../test/sim/puppet.ts'
import * as say from '../../../test/sim/words.ts'
import type { Body } from '../domain/entries.ts'
import { answerFromOutside } from './answer-from-outside.ts'

const working = [say.created, say.accepted('p1', 'x'), say.turnStarted(1, 'p1'), say.toolCall('c1', 'x')]
const asked = [...working, say.asked('r1', 'c1')]
const answered = { ...say.resolved('r1', say.yes), by: 'ada' } as Body
const no = { outcome: 'selected', optionId: 'reject_once', kind: 'reject_once' }

async function openHouse() {
  const house = new House(await diskAfter(...asked, say.suspended(1)))
  house.agent.script = deaf
  return { house, session: await house.sessions.open('s-1', here) }
}

test('an answer to an open request counts, and is stored with its author', async () => {
  const { house, session } = await openHouse()
  const answer = { requestId: 'r1', optionId: 'reject_once', by: 'ada' }
  const outside = { id: 's-1', journal: house.disk, session }
  expect(await answerFromOutside(outside, answer)).toEqual({ counted: true, outcome: no, by: 'ada' })
  expect(await house.disk.entries('s-1', 6)).toMatchObject([{ outcome: no, by: 'ada' }, { kind: 'turn_resumed' }])
})

test('an option that was not offered is refused with those that were, and another request is unknown', async () => {
  const { house, session } = await openHouse()
  const outside = { id: 's-1', journal: house.disk, session }
  await expect(answerFromOutside(outside, { requestId: 'r1', optionId: 'yes', by: 'ada' })).rejects.toMatchObject({
    code: 'PERMISSION_OPTION_UNKNOWN',
    details: { option: 'yes', request: 'r1', offered: 'allow_once, allow_always, reject_once' },
  })
  for (const wrong of [outside, { id: 's-1', journal: house.disk, session: undefined }])
    await expect(answerFromOutside(wrong, { requestId: 'r9', optionId: 'yes', by: 'ada' })).rejects.toMatchObject({
      code: 'PERMISSION_UNKNOWN',
    })
})

test.each<[what: string, optionId: string, by: string, counted: boolean]>([
  ['the same answer of the same author, counted', 'allow_once', 'ada', true],
  ['another answer, not counted', 'reject_once', 'ada', false],
  ['the answer of another author, not counted', 'allow_once', 'bob', false],
])('after the first answer: %s', async (_what, optionId, ...[by, counted]) => {
  const journal = await diskAfter(...asked, answered)
  const answer = { requestId: 'r1', optionId, by }
  const first = { counted, outcome: say.yes, by: 'ada' }
  expect(await answerFromOutside({ id: 's-1', journal, session: undefined }, answer)).toEqual(first)
  // The session is as it was before another client was first.
  const { house, session } = await openHouse()
  const view = await session.snapshot()
  const late = { dispatch: session.dispatch.bind(session), snapshot: async () => view }
  await session.dispatch({ kind: 'answer', requestId: 'r1', optionId: 'allow_once', by: 'ada' })
  expect(await answerFromOutside({ id: 's-1', journal: house.disk, session: late }, answer)).toEqual(first)
})

test('a request that was withdrawn has no author; an answer that cannot be stored is no answer', async () => {
  const journal = await diskAfter(...asked, say.resolved('r1', say.nobody))
  const answer = { requestId: 'r1', optionId: 'allow_once', by: 'ada' }
  const withdrawn = await answerFromOutside({ id: 's-1', journal, session: undefined }, answer)
  expect(withdrawn).toStrictEqual({ counted: false, outcome: say.nobody })
  const { house, session } = await openHouse()
  house.disk.trouble = 'full'
  const refused = answerFromOutside({ id: 's-1', journal: house.disk, session }, answer)
  await expect(refused).rejects.toMatchObject({ code: 'JOURNAL_FULL' })
})
