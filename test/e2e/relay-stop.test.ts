/** A server that is stopped on purpose stays away until somebody wants it, and an older one makes room for a newer relay. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { cleanEnvironment } from './environment.ts'
import { stdioServer } from '../fixtures/mcp/servers.ts'
import { until } from '../fixtures/process/running.ts'
import { type Message, textOf, updatesIn } from './message.ts'
import { binary, initialize, newSession, promptOf } from './parley.ts'
import type { RawClient } from './raw-client.ts'
import { type Place, cleanUp, connect, connectTwo, placeWith, serverOf, serversStarted } from './relays.ts'

cleanUp()

const said = (messages: readonly Message[]): string => updatesIn(messages).map(textOf).join('')

async function parley({ home }: Place, ...args: readonly string[]): Promise<void> {
  const env = { ...cleanEnvironment(), PARLEY_HOME: home, XDG_CONFIG_HOME: join(home, 'config') }
  await once(spawn(process.execPath, [binary, ...args], { env, stdio: 'ignore' }), 'exit')
}

describe.concurrent('after parley stop', () => {
  test.concurrent('no relay starts it again by itself, and the next message of a client does', async () => {
    const place = await placeWith([{ chunk: 'hello' }])
    const { one, other, sessionId } = await connectTwo(place)
    await parley(place, 'stop')
    expect(serverOf(place)).toBeUndefined()
    const { result } = await one.request('session/prompt', promptOf(sessionId, 'go'))
    expect(result).toEqual({ stopReason: 'end_turn' })
    // The other one comes back by itself, as soon as it sees that there is a server.
    await other.until(() => said(other.received) === 'gohello')
    expect(serversStarted(place)).toHaveLength(2)
    expect([...one.received, ...other.received].filter(({ method }) => method?.startsWith('_'))).toEqual([])
  })

  test.concurrent('a running turn has been interrupted, and its prompt has one answer', async () => {
    const place = await placeWith([{ chunk: 'w{n} ', times: 10_000, everyMs: 5 }])
    const { one, other, sessionId } = await connectTwo(place)
    const prompt = one.ask('session/prompt', promptOf(sessionId, 'go'))
    await other.until((message) => said([message]).startsWith('w9'))
    await parley(place, 'stop', '--grace', '0')
    expect((await one.answerTo(prompt)).error?.data).toMatchObject({ code: 'TURN_INTERRUPTED' })
    await other.request('session/list', {})
    await one.request('session/list', {})
    expect(one.received.filter((message) => message.id === prompt)).toHaveLength(1)
  })

  test.concurrent('the prompt of a turn that waits for an answer stays open, and goes on when there is a server again', async () => {
    const place = await placeWith([
      { permission: { title: 'May I?', toolCallId: 'ask', toolCall: { name: 'echo', arguments: { text: 'it ran' } } } },
    ])
    const { env: _env, type: _type, ...echo } = stdioServer('echo')
    const { one, other, sessionId } = await connectTwo(place, [{ ...echo, env: [] }])
    const prompt = one.ask('session/prompt', promptOf(sessionId, 'go'))
    const questions = ({ received }: RawClient) =>
      received.filter(({ method }) => method === 'session/request_permission')
    await other.until(() => questions(other).length === 1)
    await parley(place, 'stop', '--grace', '0')
    await other.request('session/list', {})
    await other.until(() => questions(other).length === 2)
    other.reply(questions(other)[1]?.id, { outcome: { outcome: 'selected', optionId: 'allow_once' } })
    expect((await one.answerTo(prompt)).result).toEqual({ stopReason: 'end_turn' })
    expect(one.received.filter((message) => message.id === prompt)).toHaveLength(1)
  })

  test.concurrent('a client that leaves meanwhile ends its relay at once', async () => {
    const place = await placeWith([{ chunk: 'hello' }])
    const { one } = await connectTwo(place)
    await parley(place, 'stop')
    expect(await one.leave()).toEqual({ code: 0, signal: null })
    expect(serverOf(place)).toBeUndefined()
  })
})

describe.concurrent('a relay that is newer than the server', () => {
  test.concurrent('takes over while nothing runs, before its client has noticed', async () => {
    const place = await placeWith([{ chunk: 'w{n} ', times: 5 }])
    const bin = olderBuild(place)
    const old = await connect(place, { bin })
    const sessionId = await newSession(old, place.cwd)
    const before = serverOf(place)

    const client = await connect(place)
    expect(serverOf(place)).not.toBe(before)
    expect(client.received[0]?.result?.['agentInfo']).toMatchObject({ version: versionIn(binary) })
    expect(client.received).toHaveLength(1)
    // The older relay goes on with the newer server.
    expect((await old.request('session/prompt', promptOf(sessionId, 'go'))).result).toEqual({ stopReason: 'end_turn' })
    expect(serversStarted(place)).toHaveLength(2)
  })

  test.concurrent('works with the older one while a turn runs there', async () => {
    // It runs for as long as the test wants, however slow the machine is.
    const place = await placeWith([{ chunk: 'w{n} ', times: 100_000, everyMs: 5 }])
    const bin = olderBuild(place)
    const old = await connect(place, { bin })
    const sessionId = await newSession(old, place.cwd)
    const prompt = old.ask('session/prompt', promptOf(sessionId, 'go'))
    await old.until((message) => said([message]).startsWith('w2'))

    const client = await connect(place)
    expect(client.received[0]?.result?.['agentInfo']).toMatchObject({ version: '0.0.1' })
    await newSession(client, place.cwd)
    old.notify('session/cancel', { sessionId })
    expect((await old.answerTo(prompt)).result).toEqual({ stopReason: 'cancelled' })
    expect(serversStarted(place)).toHaveLength(1)
    await until(() => client.received.length > 0)
    await initialize(client)
    expect(serversStarted(place)).toHaveLength(1)
  })
})

const root = fileURLToPath(new URL('../..', import.meta.url))

function versionIn(_bin: string): string {
  return (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version
}

/** Our own bundles, but for the version that they say they are. */
function olderBuild({ home }: Place): string {
  const older = join(home, '..', 'older')
  mkdirSync(older)
  for (const part of ['bin', 'dist']) cpSync(join(root, part), join(older, part), { recursive: true })
  for (const part of ['node_modules', 'package.json']) symlinkSync(join(root, part), join(older, part))
  const bundles = readdirSync(join(older, 'dist'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.[cm]js$/u.test(name),
  )
  for (const name of bundles) {
    const path = join(older, 'dist', name)
    const text = readFileSync(path, 'utf8')
    // The minifier chooses the quotes.
    const changed = ['"', "'", '`'].reduce(
      (before, quote) => before.replaceAll(`${quote}${versionIn(binary)}${quote}`, '"0.0.1"'),
      text,
    )
    if (changed !== text) writeFileSync(path, changed)
  }
  return join(older, 'bin', 'parley.mjs')
}
