/** Any client may rename a session, whether it is live or not. */
import { describe, expect, test } from 'vitest'
import { House, here, prompted } from '../../test/sim/house.ts'

describe('renaming a session', () => {
  test('is sent to every subscription, and the first prompt does not replace it', async () => {
    const house = new House()
    const { session, reader } = await house.open()
    await house.sessions.rename(session.id, 'Better')
    await prompted(session, 'p1', 'What is it?')
    expect(reader.entries.filter(({ kind }) => kind === 'title')).toMatchObject([{ title: 'Better' }])
    expect(await house.sessions.find(session.id)).toMatchObject({ title: 'Better' })
  })

  test('does not change the time of the last activity', async () => {
    const house = new House()
    const { session } = await house.open()
    const before = await house.sessions.find(session.id)
    await house.clock.advance(1_000)
    await house.sessions.rename(session.id, 'Better')
    expect(await house.sessions.find(session.id)).toMatchObject({ updatedAt: before?.updatedAt, title: 'Better' })
  })

  test('works for a session that is not open, and opens none of its tools', async () => {
    const house = new House()
    const { session } = await house.open()
    await house.sessions.close(session.id)
    const next = new House(house.disk)
    const [, opened] = await Promise.all([
      next.sessions.rename(session.id, 'Better'),
      next.sessions.open(session.id, here),
    ])
    expect(opened.existing).toMatchObject({ title: 'Better', phase: 'idle' })
    expect(next.tools.opened).toHaveLength(1)
    await next.sessions.close(session.id)
    await next.sessions.rename(session.id, 'Best')
    expect(await next.sessions.find(session.id)).toMatchObject({ title: 'Best', phase: 'closed' })
    expect(next.tools.opened).toHaveLength(1)
  })

  test('collapses white space to one line', async () => {
    const house = new House()
    const { session } = await house.open()
    await house.sessions.rename(session.id, '  A\n\tname   of two lines ')
    expect(session.existing.title).toBe('A name of two lines')
  })

  test('to what is no title is refused', async () => {
    const house = new House()
    const { session } = await house.open()
    await expect(house.sessions.rename(session.id, ' \n ')).rejects.toMatchObject({ code: 'TITLE_INVALID' })
    expect(session.existing.title).toBeNull()
  })

  test('an unknown session is refused', async () => {
    const house = new House()
    await expect(house.sessions.rename('s-9', 'Better')).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' })
    expect(await house.sessions.list({ limit: 9 })).toEqual([])
  })
})
