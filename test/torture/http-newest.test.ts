/** Servers over HTTP in the newest protocol: what every request says of itself, what is never sent, and what a broken answer comes to. */
import { describe, expect, test } from 'vitest'
import { DO, SAY, text } from '../fixtures/mcp/scripted.mjs'
import { json, playHttp, streaming, type HttpCase, type Script } from '../fixtures/mcp/torture-http.ts'
import { never } from '../fixtures/mcp/torture.ts'

/** Streamable HTTP as it is from 2026-07-28 on, with a tool of this name besides `say`. */
function modern({ name }: { readonly name: string }): Script {
  const complete = (result: object) => ({ resultType: 'complete', ttlMs: 0, cacheScope: 'private', ...result })
  return ({ message }, response) => {
    const results: Readonly<Record<string, object>> = {
      'server/discover': complete({ supportedVersions: ['2026-07-28'], capabilities: { tools: {} } }),
      'tools/list': complete({ tools: [SAY, { ...DO, name }] }),
      'tools/call': complete(text('done')),
    }
    const result = results[message?.method ?? '']
    response.setHeader('mcp-session-id', 'nobody-asked')
    if (message?.id === undefined || result === undefined) return (response.writeHead(405).end(), true)
    return (json(response, { jsonrpc: '2.0', id: message.id, result }), true)
  }
}

/** Whoever answers late is met in the older protocol first. */
const patient = { limits: { probeMs: 10_000 } }

const cases: readonly HttpCase[] = [
  {
    row: 'M1 M2 M9',
    does: 'speaks the newest protocol and hands out a session all the same',
    options: patient,
    script: modern({ name: '搜索' }),
    async check({ ready, registry, call, http }) {
      const tool = (await ready()).tools.find(({ original }) => original === '搜索')
      expect(registry.list().servers[0]?.era).toBe('modern')
      await registry.call(tool?.name ?? '', {}, { signal: never })
      await call('say', { text: 'hi' })
      const named = http.requests
        .filter(({ message }) => message?.method === 'tools/call')
        .map(({ headers }) => headers)
      expect(named.map((headers) => [headers['mcp-method'], headers['mcp-name']])).toEqual([
        ['tools/call', `=?base64?${Buffer.from('搜索').toString('base64')}?=`],
        ['tools/call', 'say'],
      ])
      await registry.close()
      expect(http.requests.filter(({ verb }) => verb !== 'POST')).toEqual([])
      for (const { headers } of http.requests) {
        expect(headers['mcp-protocol-version']).toBe('2026-07-28')
        expect(headers).not.toHaveProperty('mcp-session-id')
      }
    },
  },
  {
    row: 'M7 M8',
    does: 'breaks an answer off in the newest protocol',
    options: patient,
    script: (request, response, http) => {
      if (request.message?.method !== 'tools/call') return modern({ name: 'do' })(request, response, http)
      streaming(response).write(': thinking\n\n')
      setTimeout(() => response.destroy(), 20)
      return true
    },
    async check({ ready, failure, http }) {
      await ready()
      expect(await failure('do', {}, { timeoutMs: 60_000 })).toBe('TOOL_LOST')
      expect(http.count('tools/call')).toBe(1)
    },
  },
]

describe('a server over HTTP without a handshake', () => {
  test.each(cases)('$does ($row)', playHttp)
})
