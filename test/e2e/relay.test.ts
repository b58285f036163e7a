/** `parley acp` as an editor meets it while nothing goes wrong: what passes, what it waits for, how it ends. */
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { cleanEnvironment } from './environment.ts'
import { runs, serverOf, until } from '../fixtures/process/running.ts'
import { parley } from './cli.ts'
import { type Message, textOf, updatesIn } from './message.ts'
import { binary, newSession, promptOf } from './parley.ts'
import type { RawClient } from './raw-client.ts'
import { cleanUp, connect, connectTwo, lodgings, placeWith, serversStarted, startRelay } from './relays.ts'

cleanUp()
/** For relays that neither start nor end their server. */
const lodge = lodgings()

const SHORT = [{ chunk: 'w{n} ', times: 5 }]
const SLOW = [{ chunk: 'w{n} ', times: 200, everyMs: 5 }]

const said = (messages: readonly Message[]): string => updatesIn(messages).map(textOf).join('')
const counted = (times: number): string => Array.from({ length: times }, (_, index) => `w${index + 1} `).join('')

test.concurrent('a session runs over the relay, which starts the server and leaves it behind', async () => {
  const place = await placeWith(SHORT)
  const client = await connect(place)
  const sessionId = await newSession(client, place.cwd)
  const { result } = await client.request('session/prompt', promptOf(sessionId, 'go'))
  expect(result).toEqual({ stopReason: 'end_turn' })
  expect(said(client.received)).toBe(counted(5))
  expect(await client.leave()).toEqual({ code: 0, signal: null })
  expect(serverOf(place)).toBeDefined()

  const next = await connect(place)
  expect(JSON.stringify((await next.request('session/list', {})).result)).toContain(sessionId)
  expect(serversStarted(place)).toHaveLength(1)
})

test.concurrent('a client that must wait for a server is told at once what it offers, as the last one did', async () => {
  const place = await placeWith(SHORT)
  const first = await connect(place)
  await first.leave()
  expect((await parley(['stop'], place)).code).toBe(0)
  const offered = (client: RawClient) => client.received.find(({ id }) => id === 1)?.result
  // No server can be started: the journal is not one.
  const journal = join(place.home, 'journal.db')
  const kept = readFileSync(journal)
  writeFileSync(journal, 'no journal')
  const second = await connect(place)
  expect(offered(second)).toEqual(offered(first))
  expect((await second.request('session/list', {})).error).toMatchObject({ data: { code: 'SERVER_CANNOT_START' } })
  writeFileSync(journal, kept)
  expect((await second.request('session/list', {})).result).toEqual({ sessions: [] })
})

test.concurrent('a client that closes stdin in mid-turn ends its relay, and another finds that the turn went on', async () => {
  const place = await lodge(...SLOW)
  const client = await connect(place)
  const sessionId = await newSession(client, place.cwd)
  client.ask('session/prompt', promptOf(sessionId, 'go'))
  await client.until((message) => said([message]).startsWith('w3'))
  expect(await client.leave()).toEqual({ code: 0, signal: null })

  const next = await connect(place)
  await next.request('session/load', { sessionId, cwd: place.cwd, mcpServers: [] })
  await next.until((message) => said([message]).endsWith('w200 '))
  expect(said(next.received)).toBe(`go${counted(200)}`)
})

test.concurrent('what was asked before stdin closed is answered, be the last line ended or not', async () => {
  const place = await lodge(...SHORT)
  const client = startRelay(place)
  client.write('{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}\n')
  client.write('{"jsonrpc":"2.0","id":2,"method":"session/list"}')
  client.asked.set(1, 'initialize').set(2, 'session/list')
  expect(await client.leave()).toEqual({ code: 0, signal: null })
  expect(client.received.map(({ id }) => id)).toEqual([1, 2])
})

test.concurrent('half a line of the client is sent when it is whole, and never when it is not', async () => {
  const place = await lodge(...SHORT)
  const client = await connect(place)
  const line = Buffer.from('{"jsonrpc":"2.0","id":"ü","method":"session/list","params":{}}\n')
  client.asked.set('ü', 'session/list')
  for (const byte of line) client.write(Uint8Array.of(byte))
  await client.answerTo('ü')
  client.write('{"jsonrpc":"2.0","id":9,"method":"session/li')
  expect(await client.leave()).toEqual({ code: 0, signal: null })
  expect(client.received).toHaveLength(2)
})

test.concurrent('a request of 40 MiB is refused in one answer under its id, and the next one is read', async () => {
  const client = await connect(await lodge(...SHORT))
  client.asked.set(9, 'session/list')
  client.write(`{"jsonrpc":"2.0","id":9,"method":"session/list","params":{"cwd":"${'x'.repeat(40 * 1024 * 1024)}"}}\n`)
  await client.request('session/list', {})
  expect(client.received.slice(1).map(({ id, error }) => [id, error?.data?.['code']])).toEqual([
    [9, 'MESSAGE_TOO_LONG'],
    [2, undefined],
  ])
})

test.concurrent('a client that stops reading costs the relay no memory, and gets everything once it reads on', async () => {
  const padding = 'x'.repeat(20_000)
  const place = await lodge({ chunk: `<{n}>${padding}`, times: 2_000 })
  const { one, other, sessionId } = await connectTwo(place)
  other.child.stdout.pause()
  await one.request('session/prompt', promptOf(sessionId, 'go'))
  expect(memoryOf(other.child.pid)).toBeLessThan(100)
  other.child.stdout.resume()
  await other.until((message) => said([message]).includes('<2000>'))
  const numbers = said(other.received).replaceAll(padding, '')
  expect(numbers).toBe(`go${Array.from({ length: 2_000 }, (_, index) => `<${index + 1}>`).join('')}`)
})

test.concurrent('a session gets the agent that the relay was given', async () => {
  const place = await lodge(...SHORT)
  const guided = await connect(place, { args: [] })
  const sessionId = await newSession(guided, place.cwd)
  await guided.request('session/prompt', promptOf(sessionId, 'hello'))
  expect(said(guided.received)).not.toContain('w1')
  const scripted = await connect(place, { args: [`--agent=${place.agent}`] })
  await scripted.request('session/prompt', promptOf(await newSession(scripted, place.cwd), 'hello'))
  expect(said(scripted.received)).toBe(counted(5))
})

test.concurrent('a wrong command line is explained by the whole program', async () => {
  const { home } = await placeWith(SHORT)
  const run = (...args: readonly string[]) =>
    spawnSync(process.execPath, [binary, 'acp', ...args], {
      env: { ...cleanEnvironment(), PARLEY_HOME: home },
      encoding: 'utf8',
    })
  expect(run('--frobnicate')).toMatchObject({ status: 2, stdout: '' })
  expect(run('--help').stdout).toContain('--embedded')
})

test.concurrent('a client that is killed leaves no relay behind', async () => {
  const place = await placeWith(SLOW)
  const client = await connect(place)
  client.child.stdout.destroy()
  client.child.stdin.destroy()
  await until(() => !runs(client.child.pid ?? 0))
})

test.concurrent('after parley stop no relay starts it again by itself, and the next message of a client does', async () => {
  const place = await placeWith([{ chunk: 'hello' }])
  const { one, other, sessionId } = await connectTwo(place)
  expect(await parley(['stop'], place)).toMatchObject({ code: 0 })
  expect(serverOf(place)).toBeUndefined()
  const { result } = await one.request('session/prompt', promptOf(sessionId, 'go'))
  expect(result).toEqual({ stopReason: 'end_turn' })
  // The other one comes back by itself, as soon as it sees that there is a server.
  await other.until(() => said(other.received) === 'gohello')
  expect(serversStarted(place)).toHaveLength(2)
  expect([...one.received, ...other.received].filter(({ method }) => method?.startsWith('_'))).toEqual([])
})

/** Resident, in MiB. */
function memoryOf(pid: number | undefined): number {
  const { stdout } = spawnSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })
  return Number(stdout) / 1024
}
