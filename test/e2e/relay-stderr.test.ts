/** What `parley acp` writes to standard error, which editors show as errors of the agent: only what failed. */
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { initialize, newSession, promptOf } from './parley.ts'
import { cleanUp, connect, killServer, placeWith, startRelay } from './relays.ts'

cleanUp()

const slowServer = fileURLToPath(new URL('../fixtures/relay/slow-server.cjs', import.meta.url))

test.concurrent('a server that takes its time to start is no error', async () => {
  const place = await placeWith([{ chunk: 'Hi.' }])
  const client = startRelay(place, { env: { NODE_OPTIONS: `--require=${slowServer}` } })
  await initialize(client)
  await client.request('session/prompt', promptOf(await newSession(client, place.cwd), 'go'))
  expect(await client.leave()).toEqual({ code: 0, signal: null })
  expect(client.stderr).toBe('')
})

test.concurrent('a server that was killed and started again is no error', async () => {
  const place = await placeWith([{ chunk: 'Hi.' }])
  const client = await connect(place)
  await newSession(client, place.cwd)
  await killServer(place)
  expect((await client.request('session/list', {})).result).toMatchObject({ sessions: [{ cwd: place.cwd }] })
  await client.leave()
  expect(client.stderr).toBe('')
})

test.concurrent('nor is anything in one process', async () => {
  const place = await placeWith([{ chunk: 'Hi.' }])
  const client = await connect(place, { args: ['--embedded', '--agent', place.agent] })
  const missing = { name: 'missing', command: '/nowhere', args: [], env: [] }
  await client.request('session/prompt', promptOf(await newSession(client, place.cwd, [missing]), 'go'))
  await client.request('session/nonsense', {})
  await client.leave()
  expect(client.stderr).toBe('')
})

test.concurrent('a server that cannot start is told once, and the client is answered', async () => {
  const place = await placeWith([])
  mkdirSync(place.home)
  writeFileSync(
    join(place.home, 'journal.db'),
    'this is no database, and it is long enough to be sure of that'.repeat(99),
  )
  const client = startRelay(place)
  const { error } = await client.request('initialize', { protocolVersion: 1, clientCapabilities: {} })
  expect(error?.data?.['code']).toBe('SERVER_CANNOT_START')
  await client.leave()
  expect(client.stderr.trim().split('\n')).toEqual([expect.stringMatching(/^parley: .*journal\.db/u)])
})

test.concurrent('an editor that has closed standard error is answered all the same', async () => {
  const place = await placeWith([])
  mkdirSync(place.home)
  writeFileSync(
    join(place.home, 'journal.db'),
    'this is no database, and it is long enough to be sure of that'.repeat(99),
  )
  const client = startRelay(place)
  client.child.stderr.destroy()
  await once(client.child.stderr, 'close')
  const { error } = await client.request('initialize', { protocolVersion: 1, clientCapabilities: {} })
  expect(error?.data?.['code']).toBe('SERVER_CANNOT_START')
  expect(await client.leave()).toEqual({ code: 0, signal: null })
})
