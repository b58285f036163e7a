/** The founding exchanges A and B, and Show 3, as raw lines to the real binary. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { type Message, textOf, updatesIn } from './message.ts'
import { newSession, promptOf } from './parley.ts'
import type { RawClient } from './raw-client.ts'
import { cleanUp, connect, stageWith, start } from './stage.ts'

cleanUp()

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as Record<
  string,
  string
>
const TALK = [
  { thought: 'how to begin… 汉字 \u2028 🙂' },
  { chunk: 'word {n} ', times: 40 },
  { plan: ['one', 'two'] },
  { toolCall: { toolCallId: 'look', title: 'Looks it up', kind: 'search', content: [] } },
  { chunk: 'and the end.' },
]
const FOUNDING =
  '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true},"clientInfo":{"name":"my-client","title":"My Client","version":"1.0.0"}}}\n'

async function initializeWith(client: RawClient, params: Record<string, unknown>): Promise<Message> {
  return client.request('initialize', params)
}

describe('exchange A', () => {
  test('is answered with what this agent can do, and with nothing else', async () => {
    const client = start(await stageWith(TALK))
    client.asked.set(0, 'initialize')
    client.write(FOUNDING)
    expect(await client.answerTo(0)).toEqual({
      jsonrpc: '2.0',
      id: 0,
      result: {
        protocolVersion: 1,
        agentCapabilities: {
          loadSession: true,
          promptCapabilities: { image: false, audio: false, embeddedContext: false },
          mcpCapabilities: { http: true, sse: expect.any(Boolean) as boolean },
          sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {}, additionalDirectories: {} },
          // What we do beyond the standard is in its own slot, where whoever does not know it does not look.
          _meta: { parley: expect.any(Object) as object },
        },
        agentInfo: { name: 'parley', title: 'Parley', version },
        authMethods: [],
      },
    })
  })

  test('never refuses a version and never echoes one that it does not speak', async () => {
    const client = start(await stageWith(TALK))
    for (const protocolVersion of [65535, 2, 0, 1]) {
      const clientCapabilities = { unheardOf: true, fs: { readTextFile: false, more: {} }, session: null }
      const { result } = await initializeWith(client, { protocolVersion, clientCapabilities, _meta: { any: 'thing' } })
      expect(result?.['protocolVersion']).toBe(1)
    }
  })

  test('comes first: anything before it is refused, and then it may come', async () => {
    const client = start(await stageWith(TALK))
    expect((await client.request('session/list', {})).error?.code).toBe(-32600)
    expect((await initializeWith(client, { protocolVersion: 1 })).error).toBeUndefined()
    expect((await client.request('session/list', {})).result).toEqual({ sessions: [] })
  })
})

describe('exchange B, between two processes', () => {
  test('new and prompt in one; load in the other tells the same, and answers only then', async () => {
    const stage = await stageWith(TALK)
    const first = await connect(stage)
    const sessionId = await newSession(first, stage.cwd)
    expect((await first.request('session/prompt', promptOf(sessionId, 'Begin.'))).result).toEqual({
      stopReason: 'end_turn',
    })
    expect((await first.leave()).code).toBe(0)

    const second = await connect(stage)
    const answer = await second.request('session/load', { sessionId, cwd: stage.cwd, mcpServers: [] })
    expect(answer.result).toEqual({
      _meta: { 'parley/seq': expect.any(Number) as number, 'parley/agent': expect.any(String) as string },
    })
    const told = updatesIn(second.received)
    expect(transcript(told)).toEqual([['user_message_chunk', 'Begin.'], ...transcript(updatesIn(first.received))])
    expect(second.received.at(-1)).toBe(answer)

    expect((await second.request('session/prompt', promptOf(sessionId, 'Again.'))).result).toEqual({
      stopReason: 'end_turn',
    })
    expect(updatesIn(second.received).map(textOf).join('').split('word 7 ')).toHaveLength(3)
  })

  test('resume tells nothing of the past, and goes on', async () => {
    const stage = await stageWith(TALK)
    const first = await connect(stage)
    const sessionId = await newSession(first, stage.cwd)
    await first.request('session/prompt', promptOf(sessionId, 'Begin.'))
    await first.leave()

    const second = await connect(stage)
    expect((await second.request('session/resume', { sessionId, cwd: stage.cwd })).result).toEqual({
      _meta: { 'parley/seq': expect.any(Number) as number, 'parley/agent': expect.any(String) as string },
    })
    expect(updatesIn(second.received).map(textOf).join('')).toBe('')
    await second.request('session/prompt', promptOf(sessionId, 'Again.'))
    const live = transcript(updatesIn(second.received))
    expect(live).toEqual(transcript(updatesIn(first.received)).map(laterCall))
  })
})

/** What was said, with chunks of one message in a row as one; state and ids apart. */
function transcript(updates: ReturnType<typeof updatesIn>): readonly (readonly [string, string])[] {
  const said: [string, string][] = []
  for (const seen of updates) {
    const { sessionUpdate, messageId: _id, ...rest } = seen.update
    if (sessionUpdate === 'session_info_update' || sessionUpdate === 'available_commands_update') continue
    const text = textOf(seen)
    const last = said.at(-1)
    if (text !== '' && last?.[0] === sessionUpdate) last[1] += text
    else said.push([sessionUpdate, text === '' ? JSON.stringify(rest) : text])
  }
  return said
}

/** The second turn's call has an id of its own. */
function laterCall([kind, text]: readonly [string, string]): readonly [string, string] {
  return [kind, text.replace('"look"', '"look-t2"')]
}
