/** The official SDK's own client, as its documentation has it, works a whole session over `parley acp`. */
import { Readable, Writable } from 'node:stream'
import { type McpServer, type SessionNotification, client, methods, ndJsonStream } from '@agentclientprotocol/sdk'
import { expect, test } from 'vitest'
import { stdioServer } from '../fixtures/mcp/servers.ts'
import { cleanUp, killServer, placeWith, startRelay } from './relays.ts'

cleanUp()

/** What it will have asked, by the ids that it gives: every answer is held to the schema. */
const ASKED = [
  'initialize',
  'session/new',
  'session/prompt',
  'session/list',
  'session/prompt',
  'session/load',
  'session/close',
  'session/delete',
  'session/list',
]

test('a client of the SDK has a session, is asked, survives the server, loads, closes and deletes', async () => {
  const place = await placeWith([
    { chunk: 'hello ' },
    { permission: { title: 'May I?', toolCallId: 'ask', toolCall: { name: 'echo', arguments: { text: 'it ran' } } } },
    { chunk: 'bye' },
  ])
  const { env: _env, type: _type, ...echo } = stdioServer('echo')
  const mcpServers: McpServer[] = [{ name: echo.name, command: echo.command, args: [...echo.args], env: [] }]
  const relay = startRelay(place)
  for (const [id, method] of ASKED.entries()) relay.asked.set(id, method)
  const { child } = relay
  const output = Writable.toWeb(child.stdin)
  const input = Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>
  const told: SessionNotification[] = []
  let asked = 0
  const app = client({ name: 'sdk' })
    .onRequest(methods.client.session.requestPermission, () => {
      asked += 1
      return { outcome: { outcome: 'selected', optionId: 'allow_once' } }
    })
    .onNotification(methods.client.session.update, ({ params }) => void told.push(params))

  await app.connectWith(ndJsonStream(output, input), async (agent) => {
    const { agentInfo } = await agent.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities: {} })
    expect(agentInfo?.title).toBe('Parley')
    const { sessionId } = await agent.request(methods.agent.session.new, { cwd: place.cwd, mcpServers })
    const prompt = { sessionId, prompt: [{ type: 'text' as const, text: 'go' }] }
    expect(await agent.request(methods.agent.session.prompt, prompt)).toMatchObject({ stopReason: 'end_turn' })
    expect(asked).toBe(1)
    expect(textIn(told)).toBe('hello bye')

    await killServer(place)
    const { sessions } = await agent.request(methods.agent.session.list, {})
    expect(sessions.map((session) => session.sessionId)).toEqual([sessionId])
    expect(await agent.request(methods.agent.session.prompt, prompt)).toMatchObject({ stopReason: 'end_turn' })
    expect(textIn(told)).toBe('hello byehello bye')

    told.splice(0)
    await agent.request(methods.agent.session.load, { sessionId, cwd: place.cwd, mcpServers })
    expect(textIn(told)).toBe('gohello byegohello bye')
    await agent.request(methods.agent.session.close, { sessionId })
    await agent.request(methods.agent.session.delete, { sessionId })
    expect((await agent.request(methods.agent.session.list, {})).sessions).toEqual([])
  })
})

function textIn(told: readonly SessionNotification[]): string {
  return told
    .map(({ update }) =>
      'content' in update && 'messageId' in update && isText(update.content) ? update.content.text : '',
    )
    .join('')
}

function isText(content: unknown): content is { readonly text: string } {
  return typeof content === 'object' && content !== null && 'text' in content
}
