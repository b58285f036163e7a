/** A server whose main thread does not move: the log says so and where, commands end it, and in the end it ends itself. */
import { writeFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { until } from '../fixtures/process/running.ts'
import { logSentence, parse } from '../../src/server/log/log-line.ts'
import { isAlive } from '../../src/server/daemon/pid-file.ts'
import { promptOf } from './parley.ts'
import { RawSocket } from './raw-socket.ts'
import {
  type Place,
  cleanUpServers,
  logOf,
  openSession,
  pidIn,
  placeWith,
  serve,
  start,
  startInBackground,
} from './server.ts'

cleanUpServers()

const hang = (more: object = {}) => ({
  PARLEY_FAULTS: JSON.stringify([{ point: 'turn.started', action: 'hang', nth: 1, ...more }]),
})

/** A server in the background that hangs in the first turn of a session. */
async function hanging(env: Readonly<Record<string, string>>): Promise<{ place: Place; pid: number; session: string }> {
  const place = await placeWith([{ chunk: 'Hi.' }])
  const pid = await startInBackground(place, env)
  const client = await RawSocket.open(place.socket, { agent: place.agent })
  const session = await openSession(client, place)
  client.ask('session/prompt', promptOf(session, 'go'))
  return { place, pid, session }
}

function linesOf(place: Place): readonly string[] {
  return logOf(place)
    .split('\n')
    .flatMap((line) => {
      const told = parse(line)
      return told === undefined ? [] : [logSentence(told)]
    })
}

const has = (place: Place, words: string) => linesOf(place).find((line) => line.includes(words))

test.concurrent('the log says that the main thread does not move, what it began last and where it is, and that it moves again', async () => {
  const { place, session } = await hanging(hang({ during: '/' }))
  await until(() => has(place, 'has not moved for 3 s') !== undefined)
  const line = has(place, 'has not moved for 3 s')
  expect(line).toContain(`session/prompt of session ${session}`)
  expect(line).toMatch(/stack \[.*"hang \((?:chunks\/)?[\w-]+\.[cm]js:\d+\)"/u)
})

test.concurrent('when it moves again, that is in the log too', async () => {
  const flag = await placeWith()
  const during = join(flag.cwd, 'hang')
  writeFileSync(during, '')
  const { place } = await hanging(hang({ during }))
  await until(() => has(place, 'has not moved for 3 s') !== undefined)
  rmSync(during)
  await until(() => has(place, 'moves again') !== undefined)
  const client = await RawSocket.open(place.socket)
  expect((await client.request('session/list', {})).error).toBeUndefined()
})

test.concurrent('parley stop ends it, and says how', async () => {
  const { place, pid } = await hanging(hang())
  const stop = start(place, ['stop'])
  expect(await stop.finished).toMatchObject({
    code: 0,
    stdout: `The Parley server (pid ${pid}) has stopped.\n`,
    stderr: expect.stringMatching(/does not stop when asked; sending it SIGTERM …\n.*killing it/u),
  })
  expect(isAlive(pid)).toBe(false)
})

test.concurrent('it ends itself when that lasts, and the next server finishes what was cut', async () => {
  const { place, pid, session } = await hanging({ ...hang(), PARLEY_MAX_STALL_SECONDS: '5' })
  await until(() => !isAlive(pid))
  expect(has(place, 'ends itself, so that another can be started')).toContain('session/prompt')
  await serve(place)
  expect(pidIn(place.home)).not.toBe(pid)
  const client = await RawSocket.open(place.socket)
  await client.request('session/load', { sessionId: session, cwd: place.cwd, mcpServers: [] })
  expect(JSON.stringify(client.received)).toContain('nterrupted')
})
