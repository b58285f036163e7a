/** The fake agent where it decides something: its memory between processes, cancels, and what it writes at once or in pieces. */
import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { freshDirectory } from '../e2e/parley.ts'
import { textOf, updatesIn } from '../e2e/message.ts'
import { RawClient } from '../e2e/raw-client.ts'
import type { Case } from './case.ts'
import { FakeAgent } from './fake-agent.ts'

const clients: RawClient[] = []
const directories: string[] = []

afterEach(async () => {
  for (const client of clients.splice(0)) await client.kill()
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true })
})

const says = (text: string) => ({ prompt: [{ type: 'text', text }] })

function fakeThat(plan: Case): FakeAgent {
  const directory = freshDirectory()
  directories.push(directory)
  return new FakeAgent(join(directory, 'fake'), plan)
}

function start(fake: FakeAgent): RawClient {
  const client = new RawClient(spawn(fake.command, fake.args))
  clients.push(client)
  return client
}

async function opened(fake: FakeAgent): Promise<{ readonly client: RawClient; readonly sessionId: string }> {
  const client = start(fake)
  const { result } = await client.request('session/new', { cwd: '/', mcpServers: [] })
  return { client, sessionId: String(result?.['sessionId']) }
}

function words(client: RawClient): readonly string[] {
  return updatesIn(client.received).map((seen) => `${seen.update.sessionUpdate.split('_')[0]}: ${textOf(seen)}`)
}

test('another process of it knows what was said, and tells it in the order of the case', async () => {
  const fake = fakeThat({ prompts: { hi: [{ chunk: 'hm', role: 'thought' }, { chunk: 'a' }, { chunk: 'b' }] } })
  const { client, sessionId } = await opened(fake)
  await client.request('session/prompt', { sessionId, ...says('hi') })
  await client.kill()

  fake.becomes({ replay: { changes: ['no thoughts', 'merged'], when: 'split' } })
  const later = start(fake)
  await later.request('session/load', { sessionId, cwd: '/', mcpServers: [] })
  await later.request('session/prompt', { sessionId, ...says('again') })
  expect(words(later)).toEqual(['user: hi', 'agent: ab', 'agent: echo: again'])
  expect(fake.prompts).toEqual(['hi', 'again'])
  expect((await later.request('session/load', { sessionId: 'other' })).error?.code).toBe(-32_002)
})

test('a turn that was cut leaves its prompt alone if only finished turns are kept', async () => {
  const fake = fakeThat({ keeps: 'finished', prompts: { cut: [{ chunk: 'lost' }, { die: 'SIGKILL' }] } })
  const { client, sessionId } = await opened(fake)
  await client.request('session/prompt', { sessionId, ...says('kept') })
  client.ask('session/prompt', { sessionId, ...says('cut') })
  await client.exited

  const later = start(fake)
  await later.request('session/load', { sessionId })
  expect(words(later)).toEqual(['user: kept', 'agent: echo: kept', 'user: cut'])
  fake.forgetTurns(sessionId, 1)
  fake.turnOutside(sessionId, 'elsewhere', 'yes')
  const last = start(fake)
  await last.request('session/load', { sessionId })
  expect(words(last)).toEqual(['user: kept', 'agent: echo: kept', 'user: elsewhere', 'agent: yes'])
})

test.each([
  ['as usual', undefined, ['agent: on'], { stopReason: 'cancelled' }],
  [
    'in its own way',
    [{ chunk: 'late' }, { answer: { stopReason: 'end_turn' } }],
    ['agent: on', 'agent: late'],
    { stopReason: 'end_turn' },
  ],
])('a cancel is answered %s', async (...[, moves, said, result]) => {
  const fake = fakeThat({
    prompts: { '*': [{ chunk: 'on' }, { repeat: 1, moves: [{ permission: {} }] }] },
    ...(moves && { on: { 'session/cancel': moves } }),
  })
  const { client, sessionId } = await opened(fake)
  const id = client.ask('session/prompt', { sessionId, ...says('go') })
  await client.until(({ method }) => method === 'session/request_permission')
  client.notify('session/cancel', { sessionId })
  expect((await client.answerTo(id)).result).toEqual(result)
  expect(words(client)).toEqual(said)
})

test('a cancel that it ignores changes nothing, and the answer to its question goes on', async () => {
  const fake = fakeThat({
    on: { 'session/cancel': [] },
    prompts: { '*': [{ permission: {}, onAnswer: { yes: [{ chunk: 'did it' }], cancelled: [{ chunk: 'stopped' }] } }] },
  })
  const { client, sessionId } = await opened(fake)
  const prompt = client.ask('session/prompt', { sessionId, ...says('go') })
  const { id } = await client.until(({ method }) => method === 'session/request_permission')
  client.notify('session/cancel', { sessionId })
  client.reply(id, { outcome: { outcome: 'cancelled' } })
  expect((await client.answerTo(prompt)).result).toEqual({ stopReason: 'end_turn' })
  expect(words(client)).toEqual(['agent: stopped'])
})

test('what is written in pieces arrives whole, cut inside characters', async () => {
  const fake = fakeThat({ prompts: { '*': [{ pieces: 5, moves: [{ chunk: '漢字 🎈 {known}' }] }] } })
  const { client, sessionId } = await opened(fake)
  await client.request('session/prompt', { sessionId, ...says('go') })
  expect(words(client)).toEqual(['agent: 漢字 🎈 1'])
})

test('it forgets what was set unless it keeps that, and wants a login until there was one', async () => {
  const modes = { currentModeId: 'ask', availableModes: [] }
  const plan: Case = { settings: { modes }, keepsSettings: true }
  const fake = fakeThat({ ...plan, needsLogin: true })
  const refused = await start(fake).request('session/new', { cwd: '/' })
  expect(refused.error?.code).toBe(-32_000)
  await start(fake).request('authenticate', { methodId: 'x' })
  const { client, sessionId } = await opened(fake)
  await client.request('session/set_mode', { sessionId, modeId: 'plan' })
  const kept = await start(fake).request('session/load', { sessionId })
  expect(kept.result).toEqual({ modes: { ...modes, currentModeId: 'plan' } })
  fake.becomes({ ...plan, keepsSettings: false })
  const forgotten = await start(fake).request('session/load', { sessionId })
  expect(forgotten.result).toEqual({ modes })
})
