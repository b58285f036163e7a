/** Prompts that are taken back while there is no connection. */
import { describe, expect, test } from 'vitest'
import { Stage, answering } from '../../test/fixtures/client/stage.ts'

const opened = answering({ 'session/new': { sessionId: 's' } })
const resumed = answering({ 'session/resume': { _meta: { 'parley/seq': 9 } } })

test('a prompt that was withdrawn while the connection was lost, and only that one, is withdrawn once it is adopted', async () => {
  let back: () => void = () => undefined
  const stage = new Stage(opened, (message, wire) => {
    if (message.method === 'session/resume') back = () => resumed(message, wire)
  })
  const client = await stage.connect()
  await client.newSession('/w')
  const takenBack = new AbortController()
  for (const withdrawn of [new AbortController().signal, takenBack.signal])
    void client.prompt('s', 'go', { withdrawn }).catch(() => undefined)
  await new Promise(setImmediate)
  const [, taken] = stage.wire(0).heard.filter(({ method }) => method === 'session/prompt')
  stage.wire(0).cut()
  await stage.until('reconnecting')
  takenBack.abort()
  await stage.wire(1).until('session/resume')
  const before = stage.wire(1).heard.length
  back()
  await stage.until('reconnected')
  expect(stage.wire(1).heard.slice(before)).toMatchObject([
    { method: '$/cancel_request', params: { requestId: taken?.id } },
  ])
})

describe('a prompt that waits for a reconnect', () => {
  test.each([
    ['cancelled', undefined],
    ['taken back', new AbortController()],
  ])('and is %s meanwhile ends at once, and is never sent', async (_name, back) => {
    let come: () => void = () => undefined
    const stage = new Stage(opened, (message, wire) => {
      if (message.method === 'session/resume') come = () => resumed(message, wire)
    })
    const client = await stage.connect()
    await client.newSession('/w')
    stage.wire(0).cut()
    await stage.until('reconnecting')
    const ended = client.prompt('s', 'go', { withdrawn: back?.signal })
    if (back === undefined) client.cancel('s')
    else back.abort()
    expect(await ended).toEqual({ stopReason: 'cancelled' })
    await stage.wire(1).until('session/resume')
    come()
    await stage.until('reconnected')
    client.cancel('s')
    await stage.wire(1).until('session/cancel')
    expect(stage.wire(1).heard.map(({ method }) => method)).not.toContain('session/prompt')
  })
})
