/** When the index thread is notified of changes; the thread of these tests only repeats its messages. */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { newDirectory } from '../../../../test/fixtures/process/new-directory.ts'
import { TestClock } from '../../../../test/sim/clock.ts'
import type { SessionId } from '../../../ports/journal.ts'
import { openSearchIndex } from './search-client.ts'

const ECHO = `import { parentPort } from 'node:worker_threads'
parentPort.on('message', (calls) => {
  for (const [, kind, sessions] of calls)
    if (kind === 'close') parentPort.close()
    else parentPort.postMessage([[0, sessions.join()]])
})`

function followed() {
  const directory = newDirectory({ 'echo.mjs': ECHO })
  const clock = new TestClock()
  const heard: string[] = []
  const report = (error: unknown) => void heard.push((error as Error).message)
  const index = openSearchIndex({ directory, workerUrl: pathToFileURL(join(directory, 'echo.mjs')), clock, report })
  onTestFinished(() => index.close())
  return { index, clock, heard }
}

const [a, b] = ['a', 'b'] as readonly SessionId[] as readonly [SessionId, SessionId]

/** With the thread running, as half a minute after the server has started. */
async function running() {
  const scene = followed()
  scene.index.follow()
  await scene.clock.advance(30_000)
  await expect.poll(() => scene.heard.splice(0)).toEqual([''])
  return scene
}

test('starts its thread half a minute after the first change, with all changes until then', async () => {
  const { index, clock, heard } = followed()
  index.changed(a)
  await clock.advance(29_000)
  index.changed(b)
  index.changed(a)
  await clock.advance(999)
  expect(heard).toEqual([])
  await clock.advance(1)
  await expect.poll(() => heard).toEqual(['a,b'])
})

test('reports all changes at once when there were none for 200 ms', async () => {
  const { index, clock, heard } = await running()
  for (const session of [a, b, a]) {
    index.changed(session)
    await clock.advance(199)
  }
  index.changed(b)
  await clock.advance(199)
  index.changed(a)
  await clock.advance(199)
  expect(heard).toEqual([])
  await clock.advance(1)
  await expect.poll(() => heard).toEqual(['a,b'])
})

test('reports changes of a busy session every ten seconds', async () => {
  const { index, clock, heard } = await running()
  for (let ms = 0; ms < 30_000; ms += 100) {
    index.changed(a)
    await clock.advance(100)
  }
  await expect.poll(() => heard).toEqual(['a', 'a', 'a'])
})
