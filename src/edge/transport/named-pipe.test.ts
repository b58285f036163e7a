/** Linux has no named pipes; a socket of its own stands in for one, because Node listens on both alike. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { newDirectory } from '../../../test/fixtures/process/new-directory.ts'
import { listenOnPipe } from './named-pipe.ts'
import type { Transport } from './transport.ts'

test('a client is accepted, a second server is refused, and after the close no client is accepted', async () => {
  const path = join(newDirectory(), 'pipe')
  const accepted: Transport[] = []
  const listener = { connected: (one: Transport) => void accepted.push(one), report: () => undefined }
  const listening = await listenOnPipe(path, listener)
  await expect(listenOnPipe(path, listener)).rejects.toMatchObject({ code: 'SOCKET_UNUSABLE' })
  const client = connect(path)
  await once(client, 'connect')
  await expect.poll(() => accepted.length).toBe(1)
  expect(listening.isReachable()).toBe(true)
  listening.close()
  expect(listening.isReachable()).toBe(false)
  accepted[0]?.destroy()
  client.destroy()
})
