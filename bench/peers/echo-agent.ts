/** An agent as the ACP SDK's own examples have it: it streams the chunks that it was told to stream, and stores nothing. */
import { Readable, Writable } from 'node:stream'
import { agent, ndJsonStream } from '@agentclientprotocol/sdk'

const [times = '1000', text = 'chunk '] = process.argv.slice(2)

const input = Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>
const stream = ndJsonStream(Writable.toWeb(process.stdout), input)

agent({ name: 'echo' })
  .onRequest('initialize', () => ({ protocolVersion: 1, agentCapabilities: {}, authMethods: [] }))
  .onRequest('session/new', () => ({ sessionId: 'echo' }))
  .onRequest('session/prompt', async ({ params, client }) => {
    for (let number = 1; number <= Number(times); number += 1) {
      await client.notify('session/update', {
        sessionId: params.sessionId,
        update: {
          sessionUpdate: 'agent_message_chunk',
          content: { type: 'text', text: text.replaceAll('{n}', String(number)) },
          messageId: 'm1',
        },
      })
    }
    return { stopReason: 'end_turn' }
  })
  .connect(stream)
