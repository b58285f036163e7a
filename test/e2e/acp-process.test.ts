/** The binary as a process among others: how it ends, what it writes, who may own the state, and whom it waits for. */
import { mkdirSync, statSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { until } from '../fixtures/process/running.ts'
import { stdioServer } from '../fixtures/mcp/servers.ts'
import { type Fields, type Message, textOf, updatesIn } from './message.ts'
import { newSession, promptOf } from './parley.ts'
import type { RawClient } from './raw-client.ts'
import type { RawSocket } from './raw-socket.ts'
import { cleanUp, connect, connectionsToOneServer, stageWith, start } from './stage.ts'

cleanUp()
const connection = connectionsToOneServer()

const SLOW = [{ chunk: 'w{n} ', times: 5_000, everyMs: 2 }]
const QUESTION = [
  { permission: { title: 'May I?', toolCallId: 'ask', toolCall: { name: 'echo', arguments: { text: 'it ran' } } } },
  { chunk: 'and on' },
]

const said = (messages: readonly Message[]): string => updatesIn(messages).map(textOf).join('')

async function beginTurn(client: RawClient, cwd: string): Promise<{ sessionId: string; prompt: number }> {
  const sessionId = await newSession(client, cwd)
  const prompt = client.ask('session/prompt', promptOf(sessionId, 'go'))
  await client.until((message) => said([message]).startsWith('w3'))
  return { sessionId, prompt }
}

describe.concurrent('when stdin closes [A-TR-7]', () => {
  test.concurrent('before anything was asked, it ends by itself', async () => {
    const client = start(await stageWith(SLOW))
    expect(await client.leave()).toEqual({ code: 0, signal: null })
  })

  test.concurrent('in the middle of a turn, it ends by itself, and the turn is known to be interrupted', async () => {
    const stage = await stageWith(SLOW)
    const client = await connect(stage)
    const { sessionId } = await beginTurn(client, stage.cwd)
    expect(await client.leave()).toEqual({ code: 0, signal: null })

    const next = await connect(stage)
    await next.request('session/load', { sessionId, cwd: stage.cwd, mcpServers: [] })
    const told = said(next.received)
    expect(told.startsWith(`go${said(client.received).replace(/Interrupted:.*$/, '')}`)).toBe(true)
    expect(told).toMatch(/Interrupted: the server stopped[^]*$/)
  })
})

test.concurrent('what an MCP server prints or what it logs never reaches stdout [A-TR-3]', async () => {
  const stage = await stageWith([{ toolCall: { name: 'echo', arguments: { text: 'heard' } } }])
  const client = await connect(stage)
  const { env: _env, type: _type, ...noisy } = stdioServer('noisy', { junk: true })
  const sessionId = await newSession(client, stage.cwd, [{ ...noisy, env: [] }])
  await client.request('session/prompt', promptOf(sessionId, 'go'))
  const calls = updatesIn(client.received).filter(({ update }) => update['status'] === 'completed')
  expect(JSON.stringify(calls)).toContain('heard')
  expect(client.impurities).toEqual([])
})

test.concurrent('a client that does not read for a while gets everything afterwards, once and in order', async () => {
  const padding = 'x'.repeat(3_000)
  const stage = await stageWith([{ chunk: `<{n}>${padding}`, times: 2_000 }])
  const client = await connect(stage)
  const sessionId = await newSession(client, stage.cwd)
  client.child.stdout.pause()
  const prompt = client.ask('session/prompt', promptOf(sessionId, 'go'))
  // The journal grows while nothing is read: the turn does not wait for this client.
  await until(() => sizeOf(stage.home) > 6_000_000)
  client.child.stdout.resume()
  expect((await client.answerTo(prompt)).result).toEqual({ stopReason: 'end_turn' })
  const numbers = said(client.received).replaceAll(padding, '')
  expect(numbers).toBe(Array.from({ length: 2_000 }, (_, index) => `<${index + 1}>`).join(''))
})

test.concurrent('a request of 40 MiB is refused in one answer under its id, and the next one is read', async () => {
  const client = await connect(await stageWith(SLOW))
  const from = client.received.length
  client.asked.set(9, 'session/list')
  client.write(`{"jsonrpc":"2.0","id":9,"method":"session/list","params":{"cwd":"${'x'.repeat(40 * 1024 * 1024)}"}}\n`)
  await client.request('session/list', {})
  expect(client.received.slice(from).map(({ id, error }) => [id, error?.data?.['code']])).toEqual([
    [9, 'MESSAGE_TOO_LONG'],
    [1 + Number(client.received[0]?.id), undefined],
  ])
})

test.concurrent('a second owner of the same state says who has it, and ends with 75', async () => {
  const stage = await stageWith(SLOW)
  const owner = await connect(stage)
  await newSession(owner, stage.cwd)
  const second = start(stage)
  expect(await second.exited).toEqual({ code: 75, signal: null })
  expect(second.stderr).toContain(String(owner.child.pid))
  expect(second.stderr.trim().split('\n')).toHaveLength(1)
  expect(second.received).toEqual([])
  expect((await owner.request('session/list', {})).error).toBeUndefined()
})

describe.concurrent('a question', () => {
  async function asked(): Promise<{ client: RawSocket; prompt: number; question: Message; sessionId: string }> {
    const { client, cwd } = await connection(QUESTION)
    const { env: _env, type: _type, ...echo } = stdioServer('echo')
    const sessionId = await newSession(client, cwd, [{ ...echo, env: [] }])
    const prompt = client.ask('session/prompt', promptOf(sessionId, 'go'))
    const question = await client.until(({ method }) => method === 'session/request_permission')
    return { client, prompt, question, sessionId }
  }
  const ran = ({ received }: RawSocket): boolean => JSON.stringify(received).includes('it ran"}}')

  test.concurrent('names its options, and runs what was allowed [A-PM-1]', async () => {
    const { client, prompt, question } = await asked()
    const options = question.params?.['options'] as readonly Fields[]
    expect(new Set(options.map(({ optionId }) => optionId)).size).toBe(options.length)
    client.reply(question.id, { outcome: { outcome: 'selected', optionId: 'allow_once' } })
    expect((await client.answerTo(prompt)).result).toEqual({ stopReason: 'end_turn' })
    expect(ran(client)).toBe(true)
  })

  test.concurrent.each<[string, Fields]>([
    ['an option that was not offered', { result: { outcome: { outcome: 'selected', optionId: 'sudo' } } }],
    ['an error', { error: { code: -32603, message: 'no' } }],
    ['nonsense', { result: { yes: true } }],
    ['a no', { result: { outcome: { outcome: 'selected', optionId: 'reject_once' } } }],
    ['cancelled', { result: { outcome: { outcome: 'cancelled' } } }],
  ])('that is answered with %s is no yes [A-PM-2]', async (_what, answer) => {
    const { client, prompt, question } = await asked()
    client.send({ id: question.id, ...answer })
    expect((await client.answerTo(prompt)).result).toBeDefined()
    expect(ran(client)).toBe(false)
  })

  test.concurrent('does not hold up a cancel, and is withdrawn by it [A-PM-3]', async () => {
    const { client, prompt, question, sessionId } = await asked()
    client.notify('session/cancel', { sessionId })
    expect((await client.answerTo(prompt)).result).toEqual({ stopReason: 'cancelled' })
    const withdrawn = client.received.find(({ method }) => method === '$/cancel_request')
    expect(withdrawn?.params?.['requestId']).toBe(question.id)
    expect(ran(client)).toBe(false)
  })
})

test.concurrent('servers start in the cwd of the session, wherever the process was started [A-NW-2]', async () => {
  const stage = await stageWith([{ toolCall: { name: 'env', arguments: {} } }])
  const client = await connect(stage)
  mkdirSync(`${stage.cwd}/deep`)
  const { env: _env, type: _type, ...where } = stdioServer('where')
  const sessionId = await newSession(client, `${stage.cwd}/deep`, [
    { ...where, env: [{ name: 'GIVEN', value: 'as named' }] },
  ])
  await client.request('session/prompt', promptOf(sessionId, 'go'))
  const told = JSON.stringify(updatesIn(client.received))
  expect(told).toContain('/work/deep')
  expect(told).toContain('as named')
})

function sizeOf(home: string): number {
  return statSync(`${home}/journal.db-wal`).size
}
