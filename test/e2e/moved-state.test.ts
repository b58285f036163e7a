/** A state directory whose files are moved, removed or copied: nobody is told of what nobody will find, and no note names a stranger. */
import { spawn } from 'node:child_process'
import { cpSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readPidFile } from '../../src/server/daemon/pid-file.ts'
import { parley } from './cli.ts'
import type { Fields } from './message.ts'
import { promptOf } from './parley.ts'
import { RawSocket } from './raw-socket.ts'
import { type Place, cleanUpServers, openSession, pidIn, placeWith, serve } from './server.ts'

cleanUpServers()

const STEPS = [{ chunk: 'word {n} ', times: 2_000, everyMs: 5 }]

/** A turn that is being told. */
async function telling(place: Place) {
  const server = await serve(place)
  const client = await RawSocket.open(place.socket)
  const sessionId = await openSession(client, place)
  void client.request('session/prompt', promptOf(sessionId, 'Go.')).catch(() => undefined)
  await client.until((message) => JSON.stringify(message).includes('word 9 '))
  return { server, client, sessionId }
}

const REMOVED: readonly (readonly [what: string, names: readonly string[]])[] = [
  ['the journal', ['journal.db', 'journal.db-wal', 'journal.db-shm']],
  ['the lock', ['server.lock']],
]

test.concurrent.each(REMOVED)('a server under which %s is removed ends at once and says so', async (_what, names) => {
  const place = await placeWith(STEPS)
  const { server } = await telling(place)
  for (const name of names) rmSync(join(place.home, name))
  const { code, stderr } = await server.finished
  expect(code).toBe(1)
  expect(stderr).toBe(
    `parley: The journal was lost, because ${join(place.home, names[0] ?? '')} was moved or removed while it was in use. The next command starts the server again.\n`,
  )
})

test.concurrent('one whose directory is moved ends too, and what was seen is where the directory is', async () => {
  const place = await placeWith(STEPS)
  const { server, client, sessionId } = await telling(place)
  const elsewhere = `${place.home}-moved`
  renameSync(place.home, elsewhere)
  expect((await server.finished).code).toBe(1)
  const { stdout } = await parley(['show', '--json', sessionId], { home: elsewhere, cwd: place.cwd })
  const seen = client.received.findLast(({ method }) => method === 'session/update')?.params as Fields
  expect(stdout).toContain((seen['update'] as { content: { text: string } }).content.text)
})

test.concurrent('a copy of the directory has a server of its own, and stopping it leaves the other alone', async () => {
  const place = await placeWith([{ chunk: 'Hello.' }])
  await serve(place)
  const home = `${place.home}-copied`
  cpSync(place.home, home, { recursive: true, filter: (path) => !path.endsWith('.sock') })
  expect(pidIn(home)).toBe(pidIn(place.home))
  expect(readPidFile(place.home)).toMatchObject({ isServer: true })
  expect(readPidFile(home)).toBe(undefined)
  const { code, stdout } = await parley(['stop'], { home, cwd: place.cwd })
  expect([code, stdout]).toEqual([0, 'No Parley server is running.\n'])
  expect((await parley(['status'], { home: place.home, cwd: place.cwd })).code).toBe(0)
})

test.concurrent('a note that was left behind and names another process by now counts for nothing', async () => {
  const place = await placeWith()
  const server = await serve(place)
  server.child.kill('SIGKILL')
  await server.finished
  const stranger = spawn('sleep', ['600'])
  try {
    writeFileSync(join(place.home, 'server.pid'), `${stranger.pid} server\n`)
    const { code, stdout } = await parley(['stop'], { home: place.home, cwd: place.cwd })
    expect([code, stdout]).toEqual([0, 'No Parley server is running.\n'])
    expect((await parley(['doctor'], { home: place.home, cwd: place.cwd })).stdout).not.toContain(String(stranger.pid))
  } finally {
    stranger.kill('SIGKILL')
  }
})
