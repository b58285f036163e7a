/** Delegates that throw: the caller gets the delegate's error, and never the error of a lost connection. */
import { describe, expect, test } from 'vitest'
import { answering, inTurn, update, type Book } from '../../test/fixtures/client/stage.ts'

const resumed: Book = answering({ 'session/resume': {}, 'session/list': { sessions: [] } })
const broken = (): never => {
  throw new TypeError('no such widget')
}

const turn = { method: '_parley/turn', params: { sessionId: 's', phase: 'working' } }

describe('a delegate that throws', () => {
  test.each([
    ['an update', update(4), 'updated'],
    ['a notice', turn, 'noticed'],
  ] as const)('on %s rejects the open requests', async (_what, message, callback) => {
    const { stage, client, ended } = await inTurn(resumed)
    stage.also = { [callback]: broken }
    stage.wire(0).say(message)
    await expect(ended).rejects.toMatchObject({ code: 'DELEGATE_FAILED', details: { reason: 'no such widget' } })
    expect(stage.events).toEqual([
      { kind: 'lost', reason: expect.objectContaining({ code: 'DELEGATE_FAILED' }) as unknown },
    ])
    expect(stage.dials).toBe(1)
    // The next wish reaches the server again.
    stage.also = {}
    expect((await client.sessions().next()).done).toBe(true)
    expect(stage.dials).toBe(2)
  })

  test('during the replay is named, and the replay is not repeated', async () => {
    const { stage, ended } = await inTurn(({ id, method }, wire) => {
      if (method !== 'session/resume') return
      wire.say(update(5))
      wire.say({ id, result: {} })
    })
    stage.also = { updated: broken }
    stage.wire(0).cut()
    await expect(ended).rejects.toMatchObject({ code: 'DELEGATE_FAILED' })
    expect(stage.dials).toBe(2)
  })

  test('on a permission request has not approved, and the session continues', async () => {
    const { stage, ended, sent } = await inTurn()
    stage.ask = broken
    const options = [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }]
    const params = { sessionId: 's', toolCall: { toolCallId: 't' }, options }
    stage.wire(0).say({ id: 'q', method: 'session/request_permission', params })
    expect(await stage.wire(0).reply('q')).toMatchObject({ result: { outcome: { outcome: 'cancelled' } } })
    stage.wire(0).say({ id: sent.id, result: { stopReason: 'end_turn' } })
    expect(await ended).toEqual({ stopReason: 'end_turn' })
  })

  test('on a connection event rejects the open requests, once', async () => {
    const { stage, client, ended } = await inTurn(resumed)
    stage.also = {
      connection: ({ kind }) => {
        if (kind === 'reconnecting') broken()
      },
    }
    stage.wire(0).cut()
    await expect(ended).rejects.toMatchObject({ code: 'DELEGATE_FAILED' })
    expect(stage.kinds).toEqual(['reconnecting', 'lost'])
    stage.books.push(resumed)
    expect((await client.sessions().next()).done).toBe(true)
  })

  test('on a cancel does not prevent the cancel', async () => {
    const { stage, client, ended } = await inTurn()
    stage.also = { cancelling: broken }
    client.cancel('s')
    await stage.wire(0).until('session/cancel')
    await expect(ended).rejects.toMatchObject({ code: 'DELEGATE_FAILED' })
  })
})
