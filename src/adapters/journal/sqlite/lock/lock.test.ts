/** One owner of a state directory, however many processes try, and however they end. */
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { appendOf } from '../../../../../test/contracts/journal-words.ts'
import {
  type OwnerProcess,
  startOwner,
  temporaryDirectory,
  workerUrl,
} from '../../../../../test/fixtures/journal/places.ts'
import { PerTest } from '../../../../../test/fixtures/process/per-test.ts'
import { openSqliteJournal } from '../sqlite-journal.ts'

const places = new PerTest<() => Promise<void>>(async (opened) => {
  for (const clear of opened) await clear()
})
places.closeAfterEach()

async function freshState(): Promise<string> {
  const { directory, clear } = await temporaryDirectory()
  places.add(clear)
  return directory
}

describe.concurrent('a state directory', () => {
  test('a second owner in another process gets the pid of the first', async () => {
    const directory = await freshState()
    const journal = await openSqliteJournal({ directory, workerUrl })
    const owner = startOwner({ directory, program: 'hold' })
    expect(await outcome(owner)).toMatchObject({
      said: 'refused',
      code: 'STATE_IN_USE',
      details: { path: directory, pid: process.pid },
      message: expect.stringContaining(`pid ${process.pid}`) as string,
    })
    await owner.ended
    // The refused process has not released the lock.
    await journal.append(appendOf('s', 0, 1))
    expect(Number(await readFile(join(directory, 'server.pid'), 'utf8'))).toBe(process.pid)
    await journal.close()
  })

  test('a lock that is none is named, and not the journal', async () => {
    const directory = await freshState()
    await writeFile(join(directory, 'server.lock'), 'no lock\n'.repeat(200))
    const reason = `${join(directory, 'server.lock')} is no lock of Parley; move it away`
    const refused = { code: 'STATE_NOT_PRIVATE', details: { path: directory, reason } }
    await expect(openSqliteJournal({ directory, workerUrl })).rejects.toMatchObject(refused)
    await rm(join(directory, 'server.lock'))
    await mkdir(join(directory, 'server.lock'))
    await expect(openSqliteJournal({ directory, workerUrl })).rejects.toMatchObject(refused)
  })

  test('a second owner in the same process is refused too', async () => {
    const directory = await freshState()
    const journal = await openSqliteJournal({ directory, workerUrl })
    const inUse = { code: 'STATE_IN_USE', details: { pid: process.pid } }
    for (let turn = 0; turn < 3; turn += 1) {
      await expect(openSqliteJournal({ directory, workerUrl })).rejects.toMatchObject(inUse)
    }
    // The kernel's locks belong to the process: the refused ones must not have given them up.
    const other = startOwner({ directory, program: 'hold' })
    expect(await outcome(other)).toMatchObject({ code: 'STATE_IN_USE' })
    await journal.close()
    const next = await openSqliteJournal({ directory, workerUrl })
    await next.close()
  })

  test('kill -9 of the owner frees the lock, and its pid is no longer reported', async () => {
    const directory = await freshState()
    const owner = startOwner({ directory, program: 'hold' })
    expect(await outcome(owner)).toEqual({ said: 'open' })
    await expect(openSqliteJournal({ directory, workerUrl })).rejects.toMatchObject({
      code: 'STATE_IN_USE',
      details: { pid: owner.pid },
    })
    await owner.kill()
    const journal = await openSqliteJournal({ directory, workerUrl })
    expect(Number(await readFile(join(directory, 'server.pid'), 'utf8'))).toBe(process.pid)
    await journal.close()
  })

  test.each([
    ['is gone', '4194304999\n'],
    ['makes no sense', 'soon\n'],
    ['is empty', ''],
  ])('a pid that %s is reported as unknown', async (_, text) => {
    const directory = await freshState()
    const owner = startOwner({ directory, program: 'hold' })
    await outcome(owner)
    await writeFile(join(directory, 'server.pid'), text)
    const inUse = { code: 'STATE_IN_USE', details: { path: directory, pid: null } }
    await expect(openSqliteJournal({ directory, workerUrl })).rejects.toMatchObject(inUse)
    await owner.kill()
  })

  test('of many owners that start at once exactly one gets the lock', async () => {
    const directory = await freshState()
    const owners = Array.from({ length: 6 }, () => startOwner({ directory, program: 'hold' }))
    const outcomes = await Promise.all(owners.map((owner) => outcome(owner)))
    const said = outcomes.map((line) => (line.said === 'refused' ? line.code : line.said))
    expect(said.toSorted()).toEqual([...Array.from({ length: 5 }, () => 'STATE_IN_USE'), 'open'])
    await Promise.all(owners.map((owner) => owner.kill()))
  })

  test('only its user can read the lock file, and nothing is written to it', async () => {
    const directory = await freshState()
    const journal = await openSqliteJournal({ directory, workerUrl })
    await journal.append(appendOf('s', 0, 1))
    const { mode, size } = await stat(join(directory, 'server.lock'))
    expect([mode & 0o777, size]).toEqual([0o600, 0])
    await journal.close()
  })
})

/** What came of its try to open. */
async function outcome(owner: OwnerProcess) {
  for await (const line of owner.lines) if (line.said !== 'opening') return line
  throw new Error('the owner ended without a word')
}
