/** Which uncaught errors end the server, and which do not. */
import { expect, test } from 'vitest'
import { TestClock } from '../../../test/sim/clock.ts'
import { ParleyError } from '../../errors/parley-error.ts'
import { Uncaught } from './uncaught.ts'

function uncaught() {
  const clock = new TestClock()
  const reported: unknown[] = []
  const working = () => ['s-1', 's-2']
  return { clock, reported, uncaught: new Uncaught({ clock, working, report: (error) => reported.push(error) }) }
}

test('one uncaught error is logged with its cause and the working sessions, and the server continues', () => {
  const { reported, uncaught: it } = uncaught()
  const cause = new Error('stray')
  expect(it.judge(cause, 'exception')).toBeUndefined()
  expect(it.judge(new ParleyError('JOURNAL_IO', { path: 'journal.db', reason: 'x' }), 'rejection')).toBeUndefined()
  expect(reported[0]).toMatchObject({ message: 'Nothing caught this exception; turns ran in s-1, s-2', cause })
})

test('an append of another process to its sessions ends the server', () => {
  const { uncaught: it } = uncaught()
  const conflict = new ParleyError('JOURNAL_CONFLICT', { session: 's-1', expected: 1, found: 2 })
  expect(it.judge(conflict, 'rejection')).toContain('Another server wrote to session s-1')
})

test('many uncaught errors in a short time end the server; as many over a longer time do not', async () => {
  const { clock, uncaught: it } = uncaught()
  for (let n = 0; n < 500; n += 1) {
    expect(it.judge(new Error('seldom'), 'exception')).toBeUndefined()
    await clock.advance(200)
  }
  const verdicts = Array.from({ length: 100 }, () => it.judge(new Error('often'), 'exception'))
  expect(verdicts.at(-1)).toBe('100 errors within 10 s were not caught')
})
