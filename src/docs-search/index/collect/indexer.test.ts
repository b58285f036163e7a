/** A directory that is watched is looked through when something changes in it, and otherwise once an hour. */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MessageChannel } from 'node:worker_threads'
import { afterEach, expect, test, vi } from 'vitest'
import { newDirectory } from '../../../../test/fixtures/process/new-directory.ts'
import { Indexer } from './indexer.ts'
import { openIndexDatabase } from '../store/open.ts'
import { watchFor } from '../worker/directory-watches.ts'
import { watchThrough } from './watch.ts'

afterEach(() => void vi.useRealTimers())

/** Resolves when the disk has answered all requests, also those that followed from its answers. */
async function breathe(): Promise<void> {
  for (let still = 0; still < 10; still += 1) {
    await new Promise((resolve) => setImmediate(resolve))
    if (process.getActiveResourcesInfo().some((one) => /^(?:FSReq|CloseReq)/u.test(one))) still = -1
  }
}

async function watched() {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
  const directory = newDirectory({ 'a/x.md': 'alpha', 'b/x.md': 'alpha' })
  const looks = { count: 0 }
  const { database, temporary, release } = openIndexDatabase(undefined, () => undefined)
  const collections = [{ name: 'c', path: directory }]
  const options = { collections, limits: { files: 10, bytes: 1_000 }, poll: false, code: false }
  const unpack = () => Promise.reject(new Error('nothing is packed here'))
  const events = {
    log: () => undefined,
    // Called after each scan.
    present: () => void (looks.count += 1),
    changed: () => undefined,
    standing: () => undefined,
  }
  const { port1, port2 } = new MessageChannel()
  watchFor(port1)
  const indexer = new Indexer({ database, unpack, watch: watchThrough(port2), options }, events)
  let elapsed = 0
  /** All ticks up to this time, before the disk has answered the first of them; then what they have asked for. */
  const passUntil = async (ms: number) => {
    vi.advanceTimersByTime(ms - elapsed)
    elapsed = ms
    await breathe()
  }
  return {
    directory,
    looks: () => looks.count,
    passUntil,
    /** Until the file system is watched, each tick is a scan; after that, ten ticks in a row are none. */
    async settled() {
      let seen = -1
      for (let quiet = 0; looks.count < 2 || quiet < 10; quiet = looks.count > seen ? 0 : quiet + 1) {
        seen = looks.count
        await passUntil(elapsed + 2_000)
      }
      return seen
    },
    async close() {
      await indexer[Symbol.asyncDispose]()
      port1.close()
      database[Symbol.dispose]()
      release()
      if (temporary !== undefined) rmSync(temporary, { recursive: true, force: true })
    },
  }
}

test('without changes the files are not scanned after half an hour, and once after an hour', async () => {
  const idle = await watched()
  const before = await idle.settled()
  const hour = 60 * 60_000
  // The scan that a tick asks for begins within two seconds.
  for (const time of [hour / 2, hour / 2 + 1_900, hour - 1]) await idle.passUntil(time)
  expect(idle.looks()).toBe(before)
  for (const time of [hour, hour + 1_900]) await idle.passUntil(time)
  while (idle.looks() === before) await breathe()
  await idle.passUntil(hour + 20_000)
  expect(idle.looks()).toBe(before + 1)
  await idle.close()
})

test('a change is indexed at once', async () => {
  const idle = await watched()
  const before = await idle.settled()
  writeFileSync(join(idle.directory, 'a', 'y.md'), 'beta')
  // The file system has reported the change, and a scan is about to begin without the timer.
  while (vi.getTimerCount() < 2) await breathe()
  vi.advanceTimersByTime(1_500)
  while (idle.looks() === before) await breathe()
  await idle.close()
})
