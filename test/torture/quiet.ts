/** A call over HTTP that is answered after six minutes without a byte: the limits of Node's own HTTP client end at five. */
import { event, json, streaming, type Script } from '../fixtures/mcp/http-server.ts'
import { playHttp } from '../fixtures/mcp/torture-http.ts'
import { text } from '../fixtures/mcp/scripted.mjs'
import { wordsOf } from '../fixtures/mcp/torture.ts'

const LIMIT_MS = 24 * 60 * 60 * 1000

/** What a server keeps back for so long: everything, or what follows the head of its answer. */
export type Quiet = 'headers' | 'body'

/** What the caller was given, or why it was not. */
export async function hear(quiet: Quiet, quietMs: number): Promise<string> {
  let heard = 'nothing'
  await playHttp({
    row: 'H11 G12',
    does: 'says nothing for six minutes',
    script: quiet === 'headers' ? withoutHeaders(quietMs) : withoutBody(quietMs),
    options: { limits: { callMs: LIMIT_MS, callTotalMs: LIMIT_MS } },
    async check({ ready, call }) {
      await ready()
      heard = await call('do').then(wordsOf, (error: unknown) => String(error))
    },
  })
  return heard
}

function withoutHeaders(ms: number): Script {
  return ({ message }, response) => {
    if (message?.method !== 'tools/call') return false
    setTimeout(() => json(response, { jsonrpc: '2.0', id: message.id, result: text('at last') }), ms)
    return true
  }
}

function withoutBody(ms: number): Script {
  return ({ message }, response) => {
    if (message?.method !== 'tools/call') return false
    streaming(response)
    setTimeout(() => response.end(event({ jsonrpc: '2.0', id: message.id, result: text('at last') })), ms)
    return true
  }
}
