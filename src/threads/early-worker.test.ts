/** A thread is the same to its owner whether it was started before or after its order was known. The journal's is in sqlite.test.ts. */
import { once } from 'node:events'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import { expect, onTestFinished, test } from 'vitest'
import { newDirectory } from '../../test/fixtures/process/new-directory.ts'
import { type EarlyWorker, endOfferedWorker, offerWorker, startWorker } from './early-worker.ts'

/** Says its order, which it has as data or as its first message, and then repeats each message. */
const url = program(`import { parentPort, workerData } from 'node:worker_threads'
const run = (order) => {
  parentPort.postMessage({ order })
  parentPort.on('message', (message) => parentPort.postMessage(message))
}
if (workerData === undefined || workerData === null) parentPort.once('message', run)
else run(workerData)`)

function program(text: string): URL {
  return pathToFileURL(join(newDirectory({ 'worker.mjs': text }), 'worker.mjs'))
}

function early(of = url): EarlyWorker {
  const worker = new Worker(of, { execArgv: [] })
  worker.unref()
  const offered = { url: of, worker, hasEnded: false }
  worker.on('error', () => (offered.hasEnded = true))
  onTestFinished(async () => void (await worker.terminate()))
  return offered
}

/** The first `count` messages to an owner that sends two as soon as it has the thread. */
async function heard(worker: Worker, count: number): Promise<readonly unknown[]> {
  const messages: unknown[] = []
  const all = new Promise<void>((resolve) => {
    worker.on('message', (message) => (messages.push(message) === count ? resolve() : undefined))
  })
  worker.postMessage('one')
  worker.postMessage('two')
  await all
  await worker.terminate()
  return messages
}

const order = { directory: '/state', memory: new SharedArrayBuffer(8) }

test('a thread that was offered gets its order first, and each message after it', async () => {
  const offered = early()
  offerWorker(offered)
  const worker = startWorker(url, { workerData: order })
  expect(worker).toBe(offered.worker)
  expect(await heard(worker, 3)).toEqual([{ order }, 'one', 'two'])
})

test('a thread that was not offered, or is another one, is started with its order', async () => {
  const offered = early()
  offerWorker({ ...offered, url: new URL('another.mjs', url) })
  const worker = startWorker(url, { workerData: order })
  expect(worker).not.toBe(offered.worker)
  expect(await heard(worker, 3)).toEqual([{ order }, 'one', 'two'])
})

test('only one owner gets it', () => {
  const offered = early()
  offerWorker(offered)
  expect(startWorker(url, { workerData: order })).toBe(offered.worker)
  const next = startWorker(url, { workerData: order })
  onTestFinished(async () => void (await next.terminate()))
  expect(next).not.toBe(offered.worker)
})

test('one that has failed is started again, and then says why', async () => {
  const broken = program(`throw new Error('no SQLite here')`)
  const offered = early(broken)
  // Its error may come with its end, at once.
  await new Promise((resolve) => offered.worker.once('exit', resolve))
  expect(offered.hasEnded).toBe(true)
  offerWorker(offered)
  const worker = startWorker(broken, { workerData: order })
  expect((await once(worker, 'error'))[0]).toMatchObject({ message: 'no SQLite here' })
})

test('one that nothing needs ends', async () => {
  const offered = early()
  const gone = once(offered.worker, 'exit')
  offerWorker(offered)
  endOfferedWorker(url)
  await gone
})
