/** Clients that are slow, sloppy or hostile, and disks and servers that fail them: each request still has its one answer. */
import { setTimeout as sleep } from 'node:timers/promises'
import { mkdirSync, statSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { stdioServer } from '../fixtures/mcp/servers.ts'
import { type Message, textOf, updatesIn } from './message.ts'
import { initialize, newSession, promptOf } from './parley.ts'
import type { RawConnection } from '../wire/raw-connection.ts'
import { cleanUp, connect, connectionsToOneServer, stageWith, start } from './stage.ts'

cleanUp()
const connection = connectionsToOneServer()

const SHORT = [{ chunk: 'w{n} ', times: 5, everyMs: 20 }]
/** Far more than a pipe and the server's patience hold. */
const LONG = [{ chunk: `{n}${'x'.repeat(2000)} `, times: 2000 }]

const journalBytes = (home: string): number => statSync(join(home, 'journal.db-wal')).size
const answersTo = ({ received }: RawConnection, id: number): readonly Message[] =>
  received.filter((message) => message.id === id && message.method === undefined)

describe.concurrent('a disk that refuses one append', () => {
  const failing = (nth: number) => ({
    env: { PARLEY_FAULTS: JSON.stringify([{ point: 'session.batch.decided', action: 'throw', nth }]) },
  })

  // The first append is that of the session; the second holds the first prompt.
  test.concurrent.each([2, 3, 4])(
    'the one of number %i: each prompt is answered once, and told no other end than it has',
    async (nth) => {
      const stage = await stageWith(SHORT)
      const client = start(stage, failing(nth))
      await initialize(client)
      const sessionId = await newSession(client, stage.cwd)
      const asked = ['one', 'two'].map((text) => client.ask('session/prompt', promptOf(sessionId, text)))
      for (const id of asked) await client.answerTo(id)
      const third = await client.request('session/prompt', promptOf(sessionId, 'three'))
      expect(third.result).toEqual({ stopReason: 'end_turn' })
      for (const id of asked) expect(answersTo(client, id)).toHaveLength(1)

      const from = client.received.length
      await client.request('session/load', { sessionId, cwd: stage.cwd, mcpServers: [] })
      const played = updatesIn(client.received.slice(from)).filter((seen) => textOf(seen).includes('w5')).length
      expect(asked.filter((id) => answersTo(client, id)[0]?.result !== undefined).length + 1).toBe(played)
    },
  )
})

test.concurrent('a log that cannot be written ends nothing', async () => {
  const stage = await stageWith(SHORT)
  mkdirSync(stage.home)
  symlinkSync('/dev/full', join(stage.home, 'parley.log'))
  const faults = [2, 3, 4].map((nth) => ({ point: 'session.batch.decided', action: 'throw', nth }))
  const client = start(stage, { env: { PARLEY_FAULTS: JSON.stringify(faults) } })
  await initialize(client)
  const sessionId = await newSession(client, stage.cwd)
  for (const text of ['one', 'two', 'three']) await client.request('session/prompt', promptOf(sessionId, text))
  await sleep(200)
  expect((await client.request('session/list', {})).error).toBeUndefined()
})

describe.concurrent('a client that does not read while its turn ends', () => {
  test.concurrent.each(['session/load', 'session/resume'])(
    'and then asks for %s is told of that end',
    async (method) => {
      const stage = await stageWith(LONG)
      const client = await connect(stage)
      const sessionId = await newSession(client, stage.cwd)
      client.child.stdout.pause()
      const prompt = client.ask('session/prompt', promptOf(sessionId, 'go'))
      // Stored, whole: the turn ends though nobody reads.
      while (journalBytes(stage.home) < 4_000_000) await sleep(20)
      await sleep(300)
      const opened = client.ask(method, { sessionId, cwd: stage.cwd, mcpServers: [] })
      await sleep(200)
      client.child.stdout.resume()
      expect((await client.answerTo(opened)).error).toBeUndefined()
      expect((await client.answerTo(prompt)).result).toEqual({ stopReason: 'end_turn' })
      const told = updatesIn(client.received).map(textOf).join('').replaceAll('x', '')
      const whole = Array.from({ length: 2000 }, (_, index) => `${index + 1} `).join('')
      expect(told.endsWith(whole)).toBe(true)
    },
  )
})

test.concurrent('a client that loads a session whose question is open is asked anew, and the old one is withdrawn', async () => {
  const { client, cwd } = await connection([{ permission: { title: 'May I?' } }, { chunk: 'on' }])
  const sessionId = await newSession(client, cwd)
  const prompt = client.ask('session/prompt', promptOf(sessionId, 'go'))
  const question = await client.until(({ method }) => method === 'session/request_permission')
  await client.request('session/load', { sessionId, cwd, mcpServers: [] })
  const again = await client.until(({ method, id }) => method === 'session/request_permission' && id !== question.id)
  expect(client.received.find(({ method }) => method === '$/cancel_request')?.params).toEqual({
    requestId: question.id,
  })
  client.send({ id: again.id, result: { outcome: { outcome: 'selected', optionId: 'allow_once' } }, error: null })
  expect((await client.answerTo(prompt)).result).toEqual({ stopReason: 'end_turn' })
  expect(JSON.stringify(client.received)).toContain('"completed"')
})

describe.concurrent('what is sloppy', () => {
  test.concurrent.each([
    ['a prompt', 'session/prompt', (deep: string) => `"prompt":[{"type":"text","text":"x","_meta":${deep}}]`],
    ['what is attached to one', 'session/prompt', (deep: string) => `"prompt":[],"_meta":{"x":${deep}}`],
    ['a place in a list', 'session/list', (deep: string) => `"cursor":${deep}`],
  ])('%s that is nested beyond all use is refused', async (_what, method, more) => {
    const { client, cwd } = await connection(SHORT)
    const sessionId = await newSession(client, cwd)
    for (const depth of [5_000, 50_000]) {
      const params = more(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`)
      client.write(
        `{"jsonrpc":"2.0","id":${depth},"method":"${method}","params":{"sessionId":"${sessionId}",${params}}}\n`,
      )
      expect((await client.answerTo(depth)).error?.data?.['code']).toBe('PARAMS_INVALID')
    }
  })

  test.concurrent('a prompt of more than a thousand parts, and a request of a million values, are refused; the connection stays', async () => {
    const { client, cwd } = await connection(SHORT)
    const sessionId = await newSession(client, cwd)
    const parts = (count: number) => Array.from({ length: count }, () => ({ type: 'text', text: 'a' }))
    const refused = await client.request('session/prompt', { sessionId, prompt: parts(1_001) })
    expect(refused.error?.data?.['code']).toBe('PARAMS_INVALID')
    const taken = await client.request('session/prompt', { sessionId, prompt: parts(1_000) })
    expect(taken.result).toEqual({ stopReason: 'end_turn' })
    const values = await client.request('session/list', {
      _meta: { values: Array.from({ length: 1_000_000 }, () => 1) },
    })
    expect(values.error?.data?.['code']).toBe('MESSAGE_TOO_LARGE')
    expect((await client.request('session/list', {})).result).toBeDefined()
  })

  test.concurrent('parameters that are null are none', async () => {
    const { client } = await connection(SHORT)
    client.asked.set('null', 'session/list')
    client.send({ id: 'null', method: 'session/list', params: null })
    expect((await client.answerTo('null')).result).toMatchObject({ sessions: expect.any(Array) as unknown[] })
  })

  test.concurrent('a flood of prompts is taken or refused one by one, and nothing of it is lost', async () => {
    const { client, cwd } = await connection([{ sleepMs: 200 }])
    const sessionId = await newSession(client, cwd)
    const asked = Array.from({ length: 1000 }, (_, index) =>
      client.ask('session/prompt', promptOf(sessionId, `p${index}`)),
    )
    await client.answerTo(asked.at(-1) ?? 0)
    client.notify('session/cancel', { sessionId })
    for (const id of asked) await client.answerTo(id)
    const ends = asked.map((id) => answersTo(client, id))
    expect(ends.every((answers) => answers.length === 1)).toBe(true)
    expect(ends.filter(([answer]) => answer?.error?.data?.['code'] === 'QUEUE_FULL').length).toBeGreaterThan(900)
  })
})

test.concurrent('a last page that is full has no cursor [A-LS-5]', async () => {
  const { client, cwd } = await connection(SHORT)
  for (let count = 0; count < 50; count += 1) await newSession(client, cwd)
  const { result } = await client.request('session/list', { cwd })
  expect(result?.['sessions']).toHaveLength(50)
  expect(result).not.toHaveProperty('nextCursor')
})

describe.concurrent('a tool', () => {
  test.concurrent('named in full waits for no other server; one that no server has yet is waited for until the turn is cancelled', async () => {
    const silent = createServer(() => undefined)
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/mcp`
    const { client, cwd } = await connection([
      { toolCall: { name: 'good__echo', arguments: { text: 'here' } } },
      { chunk: 'between' },
      { toolCall: { name: 'missing', arguments: {} } },
    ])
    const { type: _type, env: _env, ...good } = stdioServer('good')
    const servers = [
      { ...good, env: [] },
      { type: 'http', name: 'silent', url, headers: [] },
    ]
    const sessionId = await newSession(client, cwd, servers)
    const prompt = client.ask('session/prompt', promptOf(sessionId, 'go'))
    await client.until((message) => updatesIn([message]).some((seen) => textOf(seen) === 'between'))
    // The call that waits can be seen to wait, and a cancel does not.
    await client.until((message) => updatesIn([message])[0]?.update['title'] === 'missing')
    expect(answersTo(client, prompt)).toEqual([])
    client.notify('session/cancel', { sessionId })
    expect((await client.answerTo(prompt)).result).toEqual({ stopReason: 'cancelled' })
    silent.closeAllConnections()
    silent.close()
  })
})
