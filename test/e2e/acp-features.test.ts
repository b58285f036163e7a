/** All that an agent may be, set and say by ACP v1 besides its words, on the wire of the real binary, held to the schema. */
import { expect, test } from 'vitest'
import { type Fields, updatesIn } from './message.ts'
import { newSession, promptOf } from './parley.ts'
import type { RawClient } from './raw-client.ts'
import { cleanUp, stageWith, start } from './stage.ts'

cleanUp()

const modes = {
  currentModeId: 'ask',
  availableModes: [
    { id: 'ask', name: 'Ask' },
    { id: 'code', name: 'Code', description: 'Writes', _meta: { own: 1 } },
  ],
}
const choices = [
  { value: 'ask', name: 'Ask' },
  { value: 'code', name: 'Code' },
]
const way = { id: 'way', name: 'Way', category: 'mode', type: 'select', currentValue: 'ask', options: choices }
const model = {
  id: 'model',
  name: 'Model',
  type: 'select',
  currentValue: 'small',
  options: [{ group: 'g', name: 'G', options: [{ value: 'small', name: 'Small' }] }],
}
const loud = { id: 'loud', name: 'Loud', type: 'boolean', currentValue: false }
const agent = {
  modes,
  configOptions: [way, model, loud],
  promptCapabilities: { image: true, audio: true, embeddedContext: true },
}
const talk: readonly Fields[] = [
  { agent },
  { chunk: '{mode}, {config.loud}. ' },
  { mode: 'code' },
  { config: { configId: 'loud', value: true } },
  { usage: { used: 10, size: 100, cost: { amount: 0.5, currency: 'credits' } } },
  { title: 'All of it' },
  { commands: [{ name: 'plan', description: 'Plans', hint: 'what' }] },
  { notice: { severity: '_own', title: 'By the way', description: 'Really.' } },
  { compaction: {} },
  { compaction: { chunk: 'So far.' } },
  { compaction: { status: 'completed', summary: ['So far, so good.'] } },
  {
    toolCall: {
      toolCallId: 'edit',
      title: 'Edits',
      name: 'write',
      kind: 'edit',
      status: 'in_progress',
      locations: [{ path: '/a', line: 3 }],
      content: [
        { type: 'diff', path: '/a', newText: 'x' },
        { type: 'content', content: { type: 'resource_link', uri: 'file:///a', name: 'a' } },
        { type: 'terminal', terminalId: 't-1' },
      ],
      rawInput: { path: '/a' },
      _meta: { own: 1 },
    },
  },
  { toolCall: { toolCallId: 'edit', status: 'completed', rawOutput: 'done' } },
  { chunk: { type: 'image', data: 'AA==', mimeType: 'image/png', annotations: { audience: ['user'] } } },
  { chunk: '{mode}, {config.loud}.' },
]

const everything = { session: { configOptions: { boolean: {} }, notices: {}, compaction: {} } }

async function introduced(client: RawClient, clientCapabilities: Fields, more: Fields = {}): Promise<Fields> {
  const { result } = await client.request('initialize', { protocolVersion: 1, clientCapabilities, ...more })
  return result ?? {}
}

const kindsOf = (client: RawClient) => updatesIn(client.received).map(({ update }) => update.sessionUpdate)
const textsOf = (client: RawClient) =>
  updatesIn(client.received)
    .map(({ update }) => (update['content'] as Fields | undefined)?.['text'])
    .filter((text) => typeof text === 'string')

test.concurrent('a client that knows everything is told everything, in order, and again after a restart', async () => {
  const stage = await stageWith(talk)
  const client = start(stage)
  const { agentCapabilities } = await introduced(client, everything)
  expect(agentCapabilities).toMatchObject({ promptCapabilities: agent.promptCapabilities })
  const sessionId = await newSession(client, stage.cwd)
  await client.request('session/prompt', promptOf(sessionId, 'Go'))
  expect(kindsOf(client)).toEqual([
    'session_info_update',
    'agent_message_chunk',
    'current_mode_update',
    'config_option_update',
    'config_option_update',
    'usage_update',
    'session_info_update',
    'available_commands_update',
    'notice',
    'compaction_update',
    'compaction_summary_chunk',
    'compaction_update',
    'tool_call',
    'tool_call_update',
    'agent_message_chunk',
    'agent_message_chunk',
  ])
  expect(textsOf(client)).toEqual(['ask, false. ', 'So far.', 'code, true.'])
  await client.kill()

  const next = start(stage)
  await introduced(next, everything)
  const { result } = await next.request('session/load', { sessionId, cwd: stage.cwd, mcpServers: [] })
  expect(result).toMatchObject({
    modes: { ...modes, currentModeId: 'code' },
    configOptions: [{ ...way, currentValue: 'code' }, model, { ...loud, currentValue: true }],
  })
  expect(kindsOf(next).filter((kind) => /mode|option|usage|info|commands|notice/u.test(kind))).toEqual([
    'usage_update',
    'session_info_update',
    'available_commands_update',
  ])
  const patch = {
    toolCallId: 'edit',
    locations: [{ path: '/a', line: 3 }],
    _meta: { own: 1 },
    rawInput: { path: '/a' },
  }
  expect(updatesIn(next.received).find(({ update }) => update.sessionUpdate === 'tool_call')?.update).toMatchObject(
    patch,
  )
})

test.concurrent('a client that knows nothing of it is told what every client knows, and can set that', async () => {
  const stage = await stageWith(talk)
  const client = start(stage)
  await introduced(client, {})
  const created = await client.request('session/new', { cwd: stage.cwd, mcpServers: [] })
  expect(created.result).toMatchObject({ modes, configOptions: [way, model] })
  const sessionId = String(created.result?.['sessionId'])
  expect((await client.request('session/set_mode', { sessionId, modeId: 'code' })).result).toEqual({})
  await client.request('session/prompt', promptOf(sessionId, 'Go'))
  const kinds = kindsOf(client)
  for (const kind of ['notice', 'compaction_update', 'compaction_summary_chunk']) expect(kinds).not.toContain(kind)
  expect(JSON.stringify(updatesIn(client.received))).not.toContain('"boolean"')
})

test.concurrent('a server that demands a token tells nobody of a session before', async () => {
  const stage = await stageWith([{ chunk: 'Hello.' }])
  const client = start(stage, { env: { PARLEY_SERVER_TOKEN: 'open sesame' } })
  const { authMethods, agentCapabilities } = await introduced(client, {})
  expect(agentCapabilities).toMatchObject({ auth: { logout: {} } })
  const [method] = authMethods as readonly Fields[]
  expect((await client.request('session/list', {})).error?.code).toBe(-32_000)
  const params = { methodId: method?.['id'], _meta: { 'parley/token': 'open sesame' } }
  expect((await client.request('authenticate', params)).result).toEqual({})
  const sessionId = await newSession(client, stage.cwd)
  expect((await client.request('logout', {})).result).toEqual({})
  expect((await client.request('session/prompt', promptOf(sessionId, 'x'))).error?.code).toBe(-32_000)
})

test.concurrent('a fork is there where it is wanted, as the unstable schema has it', async () => {
  const stage = await stageWith(talk)
  const client = start(stage, { env: { PARLEY_EXPERIMENTAL: 'true' } })
  await introduced(client, everything)
  const sessionId = await newSession(client, stage.cwd)
  const { result } = await client.request('session/fork', { sessionId, cwd: stage.cwd, mcpServers: [] })
  expect(result).toMatchObject({ modes, configOptions: [way, model, loud] })
  const answer = await client.request('session/prompt', promptOf(String(result?.['sessionId']), 'Go'))
  expect(answer.result).toEqual({ stopReason: 'end_turn' })
})
