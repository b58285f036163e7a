/** An ACP agent of raw lines that costs next to nothing: `node acp-agent.mjs CHUNKS LOAD_MS`. It stores how many turns it had. */
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'

const [chunks = '1', loadMs = '0'] = process.argv.slice(2)
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)

async function update(sessionId, sessionUpdate, text) {
  const params = { sessionId, update: { sessionUpdate, content: { type: 'text', text } } }
  if (!send({ method: 'session/update', params })) await once(process.stdout, 'drain')
}

const answers = {
  initialize: () => ({ protocolVersion: 1, agentCapabilities: { loadSession: true }, authMethods: [] }),
  'session/new': () => ({ sessionId: 'one' }),
  async 'session/load'({ sessionId }) {
    await sleep(Number(loadMs))
    for (let turn = 1; turn <= 200; turn += 1) {
      await update(sessionId, 'user_message_chunk', 'go')
      await update(sessionId, 'agent_message_chunk', 'and 1 more words ')
    }
    return {}
  },
  async 'session/prompt'({ sessionId }) {
    for (let n = 1; n <= Number(chunks); n += 1) await update(sessionId, 'agent_message_chunk', `and ${n} more words `)
    return { stopReason: 'end_turn' }
  },
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line)
  const answer = answers[method]
  if (id === undefined) continue
  if (answer === undefined) send({ id, error: { code: -32601, message: 'Method not found' } })
  else send({ id, result: await answer(params) })
}
