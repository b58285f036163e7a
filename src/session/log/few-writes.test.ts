/** What may wait for the next disk write does, and a large snapshot is not part of each. */
import { expect, test } from 'vitest'
import { quiet } from '../../../test/sim/clock.ts'
import { House, prompted } from '../../../test/sim/house.ts'
import { text } from '../../../test/sim/words.ts'

const usage = { kind: 'usage', usage: { used: 5, size: 10 } } as const

test('what an agent says of its tokens beside the end of its turn is stored with that end', async () => {
  const house = new House()
  const { session, reader } = await house.open()
  const [view] = house.agent.sessions
  house.agent.script = async (turn) => {
    await turn.say(text('Hello'))
    await view?.update(usage)
    await quiet()
    return 'end_turn'
  }
  house.disk.hold()
  void session.prompt('p1', [text('Hi')])
  for (let writes = 0; writes < 2; writes += 1) {
    await quiet()
    house.disk.serve()
  }
  house.disk.release()
  await quiet()
  expect(reader.kinds.slice(-3)).toEqual(['message_chunk', 'usage', 'turn_ended'])
  expect(house.disk.batches.at(-1)).toBe(2)
})

test('alone it is stored a moment later', async () => {
  const house = new House()
  const { reader } = await house.open()
  const [view] = house.agent.sessions
  await view?.update(usage)
  await quiet()
  expect(reader.kinds).not.toContain('usage')
  await house.clock.advance(25)
  expect(reader.kinds).toContain('usage')
})

test('a snapshot that is large is not stored after every turn', async () => {
  const house = new House()
  const { session } = await house.open()
  const snapshots = async (turns: number): Promise<number> => {
    const seen = new Set<number | undefined>()
    for (let turn = 0; turn < turns; turn += 1) {
      await prompted(session, `p${session.state.seq}`)
      const head = await house.disk.head(session.id)
      seen.add(head?.snapshot?.seq)
    }
    return seen.size
  }
  expect(await snapshots(20)).toBeGreaterThan(5)
  const play = house.agent.script
  house.agent.script = async (turn) => {
    await turn.offerCommands([{ name: 'many', description: 'x'.repeat(30_000) }])
    return play(turn)
  }
  await prompted(session, 'offer')
  house.agent.script = play
  await snapshots(1)
  const large = await snapshots(40)
  expect(large).toBeGreaterThan(1)
  expect(large).toBeLessThan(6)
})
