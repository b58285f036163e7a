/** What a collector of telemetry gets of the real program. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Collector, type SeenSpan, attribute, startCollector } from '../fixtures/telemetry/collector.ts'
import { stdioServer } from '../fixtures/mcp/servers.ts'
import { PerTest } from '../fixtures/process/per-test.ts'
import { startModelServer } from '../model-server/server.ts'
import { RawSocket } from './raw-socket.ts'
import { cleanUpServers, openSession, placeWith, serve } from './server.ts'
import { endServers } from './cli.ts'
import { type Fields } from './message.ts'
import { freshDirectory, initialize, newSession, promptOf, scriptAgent, startParley } from './parley.ts'
import type { RawClient } from './raw-client.ts'

endServers()
cleanUpServers()

const opened = new PerTest<() => unknown>(async (all) => {
  for (const close of all.toReversed()) await close()
})
opened.closeAfterEach()

async function collecting(): Promise<Collector> {
  const collector = await startCollector()
  opened.add(() => collector.close())
  return collector
}

interface Running {
  readonly home: string
  readonly cwd: string
  readonly client: RawClient
  readonly session: string
}

async function turnOf(agent: string, env: Readonly<Record<string, string>>, home: string): Promise<Running> {
  const cwd = join(home, 'secret-directory')
  mkdirSync(cwd)
  const client = startParley({ home, agent, env })
  opened.add(() => client.kill())
  await initialize(client)
  const session = await newSession(client, cwd, [declared()])
  const { result } = await client.request('session/prompt', promptOf(session, 'a prompt-sentinel'))
  expect(result).toMatchObject({ stopReason: 'end_turn' })
  return { home, cwd, client, session }
}

function declared(): Fields {
  const { name, command, args } = stdioServer('files')
  return { name, command, args, env: [] }
}

const STEPS = [
  { toolCall: { name: 'files__echo', arguments: { text: 'an argument-sentinel' } } },
  { toolCall: { toolCallId: 'own', title: 'a title-sentinel', kind: 'edit', status: 'failed' } },
  { chunk: 'an answer-sentinel' },
]
const SENTINELS = ['prompt-sentinel', 'argument-sentinel', 'title-sentinel', 'answer-sentinel', 'secret-directory']

function named(spans: readonly SeenSpan[], name: string): SeenSpan {
  const [found, ...more] = spans.filter((span) => span.name === name)
  if (found !== undefined && more.length === 0) return found
  throw new Error(`not one ${name} in ${spans.map((span) => span.name).join(', ')}`)
}

test.concurrent('a turn, its tool calls and the requests to their servers are spans of one trace, without any content', async () => {
  const collector = await collecting()
  const home = freshDirectory()
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/`,
    OTEL_EXPORTER_OTLP_HEADERS: 'api-key=k%20ey',
    OTEL_SERVICE_NAME: 'sessions-of-a-test',
  }
  const { client, session } = await turnOf(await scriptAgent(home, STEPS), env, home)
  await client.leave()

  const spans = collector.spans()
  const turn = named(spans, 'invoke_agent script')
  const call = named(spans, 'execute_tool files__echo')
  const request = named(spans, 'tools/call echo')
  const own = named(spans, 'execute_tool edit')
  expect([turn.parentSpanId, call.parentSpanId, request.parentSpanId, own.parentSpanId]).toEqual([
    undefined,
    turn.spanId,
    call.spanId,
    turn.spanId,
  ])
  expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([turn.traceId]))
  expect(turn.traceId).toMatch(/^[0-9a-f]{32}$/u)
  expect(call.spanId).toMatch(/^[0-9a-f]{16}$/u)
  expect(attribute(turn, 'gen_ai.conversation.id')).toBe(session)
  expect(attribute(turn, 'parley.turn.stop_reason')).toBe('end_turn')
  expect(attribute(own, 'error.type')).toBe('tool_error')
  expect(collector.metrics()).toEqual(
    expect.arrayContaining(['gen_ai.client.operation.duration', 'parley.append.duration', 'parley.sessions']),
  )
  const text = collector.received.map(({ body }) => body).join('\n')
  expect(text).toContain('sessions-of-a-test')
  for (const sentinel of SENTINELS) expect(text).not.toContain(sentinel)
  expect(collector.received.map(({ headers }) => headers['api-key'])).toContain('k ey')
})

test.concurrent('a server that stops sends first what it has, and counts its clients', async () => {
  const collector = await collecting()
  const place = await placeWith(STEPS.slice(2))
  const server = await serve(place, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url })
  const client = await RawSocket.open(place.socket)
  const session = await openSession(client, place)
  await client.request('session/prompt', promptOf(session, 'go'))
  await client.request('_parley/stop', {})
  expect(await server.finished).toMatchObject({ code: 0 })
  expect(named(collector.spans(), 'invoke_agent script').status).toBeUndefined()
  expect(collector.metrics()).toContain('parley.clients')
})

test.concurrent('content goes with the spans where it is asked for', async () => {
  const collector = await collecting()
  const home = freshDirectory()
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_METRICS_EXPORTER: 'none',
    OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true',
  }
  const { client } = await turnOf(await scriptAgent(home, STEPS), env, home)
  await client.leave()
  const turn = named(collector.spans(), 'invoke_agent script')
  expect(attribute(turn, 'gen_ai.input.messages')).toContain('prompt-sentinel')
  expect(attribute(turn, 'gen_ai.output.messages')).toContain('answer-sentinel')
  const call = named(collector.spans(), 'execute_tool files__echo')
  expect(attribute(call, 'gen_ai.tool.call.arguments')).toContain('argument-sentinel')
  expect(collector.metrics()).toEqual([])
})

test.concurrent('a request to a model is part of its turn, with its tokens', async () => {
  const collector = await collecting()
  const server = await startModelServer([[{ text: 'an answer-sentinel' }]])
  opened.add(() => server.close())
  const home = freshDirectory()
  mkdirSync(join(home, 'config', 'parley'), { recursive: true })
  const provider = `[providers.openai]\nurl = "${server.url}/v1"\nkey_env = "TEST_KEY"\nmodels = ["scripted"]\n`
  writeFileSync(join(home, 'config', 'parley', 'parley.toml'), provider)
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    TEST_KEY: 'sk-key-sentinel',
    PARLEY_MODEL_TITLES: 'false',
  }
  const { client } = await turnOf('model:openai:scripted', env, home)
  await client.leave()
  const turn = named(collector.spans(), 'invoke_agent model')
  const chat = named(collector.spans(), 'chat scripted')
  expect(chat.parentSpanId).toBe(turn.spanId)
  expect(attribute(chat, 'gen_ai.provider.name')).toBe('openai')
  const tokens = attribute(chat, 'gen_ai.usage.output_tokens')
  expect(Number(tokens)).toBeGreaterThan(0)
  expect(attribute(turn, 'gen_ai.usage.output_tokens')).toBe(tokens)
  expect(collector.metrics()).toContain('gen_ai.client.token.usage')
  const text = collector.received.map(({ body }) => body).join('\n')
  for (const sentinel of [...SENTINELS, 'key-sentinel']) expect(text).not.toContain(sentinel)
})
