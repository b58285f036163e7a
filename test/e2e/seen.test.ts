/** What a person has read is kept beside the journal, and goes with the session. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { serveHere } from './hosted-server.ts'
import { RawSocket } from './raw-socket.ts'
import { cleanUpServers, placeWith } from './server.ts'

cleanUpServers()

test('the marks of a session that is deleted are deleted too', async () => {
  const place = await placeWith([{ chunk: 'Hello.' }])
  await serveHere(place)
  const client = await RawSocket.open(place.socket, { agent: place.agent })
  const stored = () => readFileSync(join(place.home, 'seen.json'), 'utf8')
  const opened = async () => {
    const { result } = await client.request('session/new', { cwd: place.cwd, mcpServers: [] })
    const sessionId = String(result?.['sessionId'])
    await client.request('_parley/seen', { sessionId, seq: 1 })
    return sessionId
  }
  const [kept, deleted] = [await opened(), await opened()]
  expect(stored()).toContain(deleted)
  await client.request('session/delete', { sessionId: deleted })
  await expect.poll(stored).not.toContain(deleted)
  expect(stored()).toContain(kept)
  await client.leave()
})
