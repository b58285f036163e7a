/** Prompts that are taken back while there is no connection. */
import { expect, test } from 'vitest'
import { heldResume, openSession } from '../../test/fixtures/client/stage.ts'

test('a prompt that was withdrawn while the connection was lost, and only that one, is withdrawn once it is adopted', async () => {
  const { book, letGo } = heldResume()
  const { stage, client } = await openSession(book)
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
  letGo()
  await stage.until('reconnected')
  const cancel = { method: '$/cancel_request', params: { requestId: taken?.id } }
  expect(stage.wire(1).heard.slice(before)).toMatchObject([cancel])
})

test.each([
  ['cancelled', undefined],
  ['taken back', new AbortController()],
])('a prompt that waits for a reconnect and is %s meanwhile ends at once, and is never sent', async (_name, back) => {
  const { book, letGo } = heldResume()
  const { stage, client } = await openSession(book)
  stage.wire(0).cut()
  await stage.until('reconnecting')
  const ended = client.prompt('s', 'go', { withdrawn: back?.signal })
  if (back === undefined) client.cancel('s')
  else back.abort()
  expect(await ended).toEqual({ stopReason: 'cancelled' })
  await stage.wire(1).until('session/resume')
  letGo()
  await stage.until('reconnected')
  client.cancel('s')
  await stage.wire(1).until('session/cancel')
  expect(stage.wire(1).heard.map(({ method }) => method)).not.toContain('session/prompt')
})
