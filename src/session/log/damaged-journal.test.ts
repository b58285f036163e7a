/** A permanently damaged journal: the session closes with an error, and no request waits for an append that cannot succeed. */
import { expect, test } from 'vitest'
import { House, here, prompted } from '../../../test/sim/house.ts'
import { untilCancelled } from '../../../test/sim/puppet.ts'
import { cancel, prompt, text } from '../../../test/sim/words.ts'

async function queued() {
  const house = new House()
  house.agent.script = untilCancelled
  const { session, reader } = await house.open()
  await prompted(session, 'p1')
  await session.prompt('p2', [text('after that')])
  return { house, session, reader }
}

test('a damaged journal closes the session with an error, and the session can be opened once the file is restored', async () => {
  const { house, session, reader } = await queued()
  house.disk.trouble = 'damaged'
  await expect(session.dispatch(cancel())).rejects.toMatchObject({ code: 'JOURNAL_CORRUPT' })
  await house.clock.advance(10_000)
  expect(reader.failures).toMatchObject([{ code: 'JOURNAL_CORRUPT' }])
  await expect(session.dispatch(prompt('p3', 'x'))).rejects.toMatchObject({ code: 'SESSION_CLOSED' })
  expect(house.tools.running).toBe(0)
  house.disk.trouble = 'none'
  const again = await house.sessions.open(session.id, here)
  expect(again.existing.recentPrompts).toContainEqual({ promptId: 'p1', stopReason: 'interrupted' })
})

test('a damaged journal closes the session also when the damage is found after another failed append', async () => {
  const { house, session, reader } = await queued()
  Object.assign(house.disk, { next: 'unwritable', trouble: 'unreadable' })
  await expect(session.dispatch(cancel())).rejects.toMatchObject({ code: 'JOURNAL_IO' })
  house.disk.trouble = 'damaged'
  await house.clock.advance(10_000)
  expect(reader.failures.at(-1)).toMatchObject({ code: 'JOURNAL_CORRUPT' })
  await expect(session.dispatch(prompt('p3', 'x'))).rejects.toMatchObject({ code: 'SESSION_CLOSED' })
})
