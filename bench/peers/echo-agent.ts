/** An agent as the ACP SDK's own examples have it: it streams the chunks that its prompt names, and stores nothing. */
import { Readable, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { agent, ndJsonStream } from '@agentclientprotocol/sdk'

const [times = '1000', text = 'chunk ', everyMs = '0'] = process.argv.slice(2)

const input = Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>
const stream = ndJsonStream(Writable.toWeb(process.stdout), input)

let sessions = 0

agent({ name: 'echo' })
  .onRequest('initialize', () => ({ protocolVersion: 1, agentCapabilities: {}, authMethods: [] }))
  .onRequest('session/new', () => ({ sessionId: `echo-${(sessions += 1)}` }))
  .onRequest('session/prompt', async ({ params, client }) => {
    for (let number = 1; number <= Number(times); number += 1) {
      if (everyMs !== '0') await sleep(Number(everyMs))
      await client.notify('session/update', {
        sessionId: params.sessionId,
        update: {
          sessionUpdate: 'agent_message_chunk',
          content: { type: 'text', text: said(number) },
          messageId: 'm1',
        },
      })
    }
    return { stopReason: 'end_turn' }
  })
  .connect(stream)

function said(number: number): string {
  return text.replaceAll('{n}', String(number)).replaceAll('{at}', () => String(Date.now()))
}
