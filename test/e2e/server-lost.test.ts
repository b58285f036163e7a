/** Losing the journal is losing the state: the server may not live on without it. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { newSession, promptOf } from './parley.ts'
import { cleanUp, connect, placeWith, serverOf } from './relays.ts'

cleanUp()

const UNKIND = pathToFileURL(fileURLToPath(new URL('../kill/chaos/unkind.mjs', import.meta.url))).href

test('a server whose journal thread ends makes room for one that can store, and its clients go on', async () => {
  const place = await placeWith([{ chunk: 'word {n} ', times: 400, everyMs: 5 }])
  const orders = join(place.cwd, 'orders')
  mkdirSync(orders)
  const relay = await connect(place, { env: { NODE_OPTIONS: `--import=${UNKIND}`, CHAOS_ORDERS: orders } })
  const sessionId = await newSession(relay, place.cwd)
  const prompt = relay.ask('session/prompt', promptOf(sessionId, 'Go.'))
  await relay.until((message) => JSON.stringify(message).includes('word 20 '))
  const former = serverOf(place)
  writeFileSync(join(orders, 'end the journal thread'), '')
  expect((await relay.answerTo(prompt)).error).toMatchObject({ data: { code: 'TURN_INTERRUPTED' } })
  expect(serverOf(place)).not.toBe(former)
  const { result } = await relay.request('session/prompt', promptOf(sessionId, 'Again.'))
  expect(result).toEqual({ stopReason: 'end_turn' })
})
