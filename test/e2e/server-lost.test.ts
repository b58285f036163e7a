/** Losing the journal is losing the state: the server may not live on without it. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { serverOf } from '../fixtures/process/running.ts'
import { Cli, parley } from './cli.ts'
import { initialize, newSession, promptOf, startParley } from './parley.ts'
import { cleanUp, connect, placeWith } from './relays.ts'

cleanUp()

const UNKIND = pathToFileURL(fileURLToPath(new URL('../kill/chaos/unkind.cjs', import.meta.url))).href

const LOST =
  'parley: The journal was lost, because its thread has ended; what was stored is safe. Run the command again to continue.'
/** Longer than any machine needs to do as it is told. */
const STEPS = [{ chunk: 'word {n} ', times: 100_000, everyMs: 5 }]

/** What makes the process obey, and the order that ends its journal thread. */
function unkind(directory: string) {
  const orders = join(directory, 'orders')
  mkdirSync(orders)
  const order = join(orders, 'end the journal thread')
  return {
    env: { NODE_OPTIONS: `--import=${UNKIND}`, CHAOS_ORDERS: orders },
    endThread: () => writeFileSync(order, 'now'),
  }
}

test.concurrent('a server whose journal thread ends makes room for one that can store, and its clients go on', async () => {
  const place = await placeWith(STEPS)
  const { env, endThread } = unkind(place.cwd)
  const relay = await connect(place, { env })
  const sessionId = await newSession(relay, place.cwd)
  const prompt = relay.ask('session/prompt', promptOf(sessionId, 'Go.'))
  await relay.until((message) => JSON.stringify(message).includes('word 20 '))
  const former = serverOf(place)
  endThread()
  expect((await relay.answerTo(prompt)).error).toMatchObject({ data: { code: 'TURN_INTERRUPTED' } })
  expect(serverOf(place)).not.toBe(former)
  const again = relay.ask('session/prompt', promptOf(sessionId, 'Again.'))
  const from = relay.received.length
  await relay.until((message) => relay.received.indexOf(message) >= from && JSON.stringify(message).includes('word 5 '))
  relay.notify('session/cancel', { sessionId })
  expect((await relay.answerTo(again)).result).toEqual({ stopReason: 'cancelled' })
})

test.concurrent('an owner that serves its own editor ends with one line and exit code 1, and what was seen is there', async () => {
  const { home, agent, cwd } = await placeWith(STEPS)
  const { env, endThread } = unkind(cwd)
  const editor = startParley({ home, agent, env })
  await initialize(editor)
  const sessionId = await newSession(editor, cwd)
  editor.ask('session/prompt', promptOf(sessionId, 'Go.'))
  await editor.until((message) => JSON.stringify(message).includes('word 20 '))
  endThread()
  expect((await editor.exited).code).toBe(1)
  expect(editor.stderr.trim()).toBe(LOST)
  const { stdout } = await parley(['show', sessionId], { home })
  expect(stdout).toMatch(/word 20\b.*Interrupted/su)
})

test.concurrent('so does a command that is its own owner', async () => {
  const { home, agent, cwd } = await placeWith(STEPS)
  const { env, endThread } = unkind(cwd)
  const run = new Cli(['run', '--embedded', '--agent', agent, 'Go.'], { home, env })
  await run.until('word 20 ')
  endThread()
  const { code, stderr } = await run.finished
  expect([code, stderr.trim()]).toEqual([1, LOST])
})
