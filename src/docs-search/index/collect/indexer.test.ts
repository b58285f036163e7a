/** A directory that is watched is looked through when something changes in it, and otherwise once an hour. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { Indexer } from './indexer.ts'
import { openIndexDatabase } from '../store/open.ts'

afterEach(() => void vi.useRealTimers())

/** Resolves when earlier requests to the disk have been answered. */
async function breathe(): Promise<void> {
  for (let n = 0; n < 30; n += 1) await stat(tmpdir())
}

async function watched() {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
  const directory = mkdtempSync(join(tmpdir(), 'parley-idle-'))
  for (const name of ['a', 'b']) {
    mkdirSync(join(directory, name))
    writeFileSync(join(directory, name, 'x.md'), 'alpha')
  }
  const looks = { count: 0 }
  const { database, temporary, release } = openIndexDatabase(undefined, () => undefined)
  const options = {
    collections: [{ name: 'c', path: directory }],
    limits: { files: 10, bytes: 1_000 },
    poll: false,
    code: false,
  }
  const unpack = () => Promise.reject(new Error('nothing is packed here'))
  const events = {
    log: () => undefined,
    // Called after each scan.
    present: () => void (looks.count += 1),
    changed: () => undefined,
    standing: () => undefined,
  }
  const indexer = new Indexer({ database, unpack, options }, events)
  /** Long steps are several ticks before the disk has answered the first of them. */
  const pass = async (ms: number, { step = 2_000, isOver = (): boolean => false } = {}) => {
    for (let at = 0; at < ms && !isOver(); at += step) {
      await vi.advanceTimersByTimeAsync(step)
      await breathe()
    }
  }
  return {
    directory,
    looks: () => looks.count,
    pass,
    /** Until the file system is watched, each tick is a scan; after that, ten ticks in a row are none. */
    async settled() {
      let seen = -1
      while (looks.count < 2 || looks.count > seen) {
        seen = looks.count
        await pass(20_000)
      }
      return seen
    },
    async close() {
      await indexer[Symbol.asyncDispose]()
      database[Symbol.dispose]()
      release()
      for (const one of [directory, temporary]) if (one !== undefined) rmSync(one, { recursive: true, force: true })
    },
  }
}

test('without changes the files are scanned after half an hour, then once an hour', async () => {
  const idle = await watched()
  const before = await idle.settled()
  await idle.pass(30 * 60_000, { step: 20_000 })
  expect(idle.looks()).toBe(before)
  await idle.pass(31 * 60_000, { step: 20_000, isOver: () => idle.looks() > before })
  expect(idle.looks()).toBe(before + 1)
  await idle.close()
})

test('a change is indexed at once', async () => {
  const idle = await watched()
  const before = await idle.settled()
  writeFileSync(join(idle.directory, 'a', 'y.md'), 'beta')
  // The file system has reported the change, and a scan is about to begin without the timer.
  while (vi.getTimerCount() < 2) await breathe()
  await idle.pass(4_000)
  expect(idle.looks()).toBeGreaterThan(before)
  await idle.close()
})
