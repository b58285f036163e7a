/** What a command waits for before it sends a prompt: how the turn of the session stands. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { SessionPresence } from './session-presence.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const server = (sendsTurns: boolean, closed = new Promise<void>(() => undefined)) => ({
  notices: () => sendsTurns,
  closed,
})

async function isKnown(known: Promise<void>): Promise<boolean> {
  let is = false
  void known.then(() => (is = true))
  await vi.advanceTimersByTimeAsync(0)
  return is
}

test('a server that promises to send how its turns stand, and does not, counts as idle after five seconds', async () => {
  const presence = new SessionPresence()
  const known = presence.known(server(true))
  await vi.advanceTimersByTimeAsync(4_999)
  expect(await isKnown(known)).toBe(false)
  await vi.advanceTimersByTimeAsync(1)
  expect(await isKnown(known)).toBe(true)
  expect(presence.busy).toBe(false)
})

test('how the turns stand is known at once where the server promises nothing, has gone, or has sent it', async () => {
  expect(await isKnown(new SessionPresence().known(server(false)))).toBe(true)
  expect(await isKnown(new SessionPresence().known(server(true, Promise.resolve())))).toBe(true)
  const sent = new SessionPresence()
  sent.take({ kind: 'turn', sessionId: 's', phase: 'working', mine: true })
  expect(await isKnown(sent.known(server(true)))).toBe(true)
  expect(sent.mine).toBe(true)
})
