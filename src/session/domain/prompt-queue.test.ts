/** What a cancel, a withdrawal and a promotion do to the prompts of a session: the running one and those that wait. */
/* oxlint-disable promise/valid-params -- the "then" of given, when, then is no promise's. */
import { describe, expect, test } from 'vitest'
import { given } from '../../../test/sim/given.ts'
import * as say from '../../../test/sim/words.ts'
import type { Command } from './commands.ts'
import type { Body } from './entries.ts'

const { created, accepted, turnStarted, userSaid, ended, asked, resolved, nobody } = say
const working = [created, accepted('p1', 'Hello'), turnStarted(1, 'p1'), userSaid(1, 'p1', 'Hello')]
const waiting = [...working, say.toolCall('c1', 'Delete everything'), asked('r1', 'c1')]
const cancelling = [...working, say.cancelRequested(1)]
const suspended = [...waiting, say.suspended(1)]

describe('a cancel', () => {
  test('requests the end of the running turn and withdraws the queued prompts that it names', () =>
    given(...working, accepted('p2', 'x'), accepted('p3', 'y'))
      .when(say.cancel('p3'))
      .then(say.withdrawn('p3', 'cancelled'), say.cancelRequested(1)))
  test.each<Command>([
    say.ends(1, 'end_turn'),
    { kind: 'end', turnId: 't1', stopReason: 'error', error: { code: 'AGENT_FAILED', message: 'It broke.' } },
  ])('ends the turn as cancelled, also when its agent says $stopReason', (end) =>
    given(...cancelling)
      .when(end)
      .then(ended(1, 'p1', 'cancelled')),
  )
  test('keeps the name of the client that stopped the turn, also with its end', () => {
    const byAda: Body = { kind: 'turn_cancel_requested', turnId: 't1', by: 'Ada' }
    const end: Body = { kind: 'turn_ended', turnId: 't1', promptId: 'p1', stopReason: 'cancelled', by: 'Ada' }
    given(...working)
      .when(
        { kind: 'cancel', queued: [], by: 'Ada' },
        { kind: 'cancel', queued: [], by: 'Ben' },
        say.ends(1, 'end_turn'),
      )
      .then(byAda, end)
    given(...suspended)
      .when({ kind: 'withdraw', promptId: 'p1', by: 'Ada' })
      .then(resolved('r1', nobody), byAda, say.patched('c1', 'cancelled', 'Cancelled.'), end)
  })
  test('of a queued prompt does not touch the running turn', () => {
    const two = given(...working, accepted('p2', 'x'), accepted('p3', 'y'))
    two.when({ kind: 'withdraw_waiting', promptId: 'p2' }).then(say.withdrawn('p2', 'cancelled'))
    two.when({ kind: 'withdraw_waiting', promptId: 'p1' }).then()
    two.when({ kind: 'promote', promptId: 'p3' }).then({ kind: 'prompt_promoted', promptId: 'p3' })
    two.when({ kind: 'promote', promptId: 'p2' }).then()
    two
      .when({ kind: 'promote', promptId: 'p3', now: true })
      .then({ kind: 'prompt_promoted', promptId: 'p3' }, say.cancelRequested(1))
    two.when({ kind: 'promote', promptId: 'p2', now: true }).then(say.cancelRequested(1))
  })
  test.each(['p2', 'p3', 'p4'])('put first while the turn is suspended begins at once: %s of three', (promptId) => {
    const queue = ['p2', 'p3', 'p4'].map((queued) => accepted(queued, queued))
    const { state, happened } = given(...suspended, ...queue).when({ kind: 'promote', promptId, now: true })
    expect(state).toMatchObject({ phase: 'working', turn: { promptId } })
    const begun = [turnStarted(2, promptId), userSaid(2, promptId, promptId)]
    expect('bodies' in happened && happened.bodies.slice(-2)).toEqual(begun)
  })
  test('withdraws the open permission request, so that the agent stops waiting', () =>
    given(...waiting)
      .when(say.cancel())
      .then(resolved('r1', nobody), say.cancelRequested(1)))
  test('of one queued prompt withdraws it, and leaves the running turn alone', () =>
    given(...working, accepted('p2', 'x'))
      .when(say.withdraw('p2'))
      .then(say.withdrawn('p2', 'cancelled')))
  test('of one unknown prompt changes nothing', () =>
    given(...working, accepted('p2', 'x'))
      .when(say.withdraw('p7'))
      .thenNothing())
  test('before a permission request: the request is not made', () =>
    given(...working)
      .when(say.cancel(), say.asks(1, 'r1', 'c1'))
      .then(say.cancelRequested(1)))
  test('before an answer: the answer is refused', () =>
    given(...waiting)
      .when(say.cancel(), say.answer('r1', 'allow_once'))
      .thenRefused('PERMISSION_UNKNOWN'))
  test('ends a suspended turn at once, for no agent runs that could end it', () =>
    given(...suspended)
      .when(say.cancel())
      .then(
        resolved('r1', nobody),
        say.cancelRequested(1),
        say.patched('c1', 'cancelled', 'Cancelled.'),
        ended(1, 'p1', 'cancelled'),
      ))
})
