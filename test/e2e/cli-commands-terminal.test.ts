/** What commands outside the chat show at a terminal. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { until } from '../fixtures/process/running.ts'
import { serveHere } from './hosted-server.ts'
import { jsonLines, parley } from './cli.ts'
import { RawSocket } from './raw-socket.ts'
import { cleanUpServers, openSession, placeWith } from './server.ts'
import { Terminal, cleanUpTerminals } from './terminal.ts'

cleanUpServers()
cleanUpTerminals()

test.concurrent('a wrong key at a permission question says which keys answer', async () => {
  const place = await placeWith([{ permission: { title: 'Delete all' } }, { chunk: 'Done.' }])
  const terminal = new Terminal(['run', 'go'], place)
  await terminal.until('Delete all')
  await terminal.pressUntil('x', 'answer this.')
  await terminal.pressUntil('1', 'Done.')
})

test.concurrent('ls has headings and the newest twenty, and all of them on demand; programs read all in any case', async () => {
  const place = await placeWith()
  await serveHere(place)
  const client = await RawSocket.open(place.socket, { agent: place.agent })
  for (let session = 0; session < 23; session += 1) await openSession(client, place)
  const newest = new Terminal(['ls'], place)
  await newest.until('3 more; parley ls --all')
  await newest.until('TITLE')
  const all = new Terminal(['ls', '--all'], place)
  const sessions = jsonLines((await parley(['ls', '--json'], place)).stdout)
  expect(sessions).toHaveLength(23)
  for (const { sessionId } of sessions) await all.until(String(sessionId).slice(0, 8))
  expect((await parley(['ls'], place)).stdout.trim().split('\n')).toHaveLength(23)
})

test.concurrent('rm asks first: Enter alone, Ctrl-C and a closed terminal delete nothing, y deletes', async () => {
  const place = await placeWith()
  await serveHere(place)
  const client = await RawSocket.open(place.socket, { agent: place.agent })
  const id = await openSession(client, place)
  const listed = async () => (await parley(['ls', '--json'], place)).stdout.includes(id)
  for (const key of ['\r', '\u0003', '\u001b']) {
    const asking = new Terminal(['rm', id], place)
    await asking.until('Delete permanently')
    asking.press(key)
    expect([key, await asking.ended()]).toEqual([key, 1])
    expect(await listed()).toBe(true)
  }
  // Node aborts where the terminal that it would restore is gone.
  const exitFile = join(place.home, 'exit')
  const closed = new Terminal(['rm', id], { ...place, exitFile })
  await closed.until('Delete permanently')
  closed.hangUp()
  await until(() => existsSync(exitFile) && readFileSync(exitFile, 'utf8') !== '')
  expect(readFileSync(exitFile, 'utf8')).toBe('1\n')
  expect(await listed()).toBe(true)
  const last = new Terminal(['rm', id], place)
  await last.until('Delete permanently')
  last.press('y')
  expect(await last.ended()).toBe(0)
  expect(await listed()).toBe(false)
})
