/** Servers over HTTP in the newest protocol: what every request says of itself, what is never sent, and what a broken answer comes to. */
import { describe, expect, test } from 'vitest'
import { DO, SAY, text } from '../fixtures/mcp/scripted.mjs'
import { json, streaming, type Script } from '../fixtures/mcp/http-server.ts'
import { playHttp, type HttpCase } from '../fixtures/mcp/torture-http.ts'
import { changeTo, never, originals, wordsOf } from '../fixtures/mcp/torture.ts'

interface Has {
  /** Of its tool besides `say`. */
  readonly name: string
  readonly inputSchema?: object
  readonly capabilities?: object
  /** Results of other methods, or others of the same. */
  readonly results?: Readonly<Record<string, object>>
}

const complete = (result: object) => ({ resultType: 'complete', ttlMs: 0, cacheScope: 'private', ...result })

/** Streamable HTTP as it is from 2026-07-28 on. */
function modern({ name, inputSchema = DO.inputSchema, capabilities = {}, results: more = {} }: Has): Script {
  return ({ message }, response) => {
    const results: Readonly<Record<string, object>> = {
      'server/discover': complete({ supportedVersions: ['2026-07-28'], capabilities: { tools: {}, ...capabilities } }),
      'tools/list': complete({ tools: [SAY, { ...DO, name, inputSchema }] }),
      'tools/call': complete(text('done')),
      ...more,
    }
    const result = results[message?.method ?? '']
    response.setHeader('mcp-session-id', 'nobody-asked')
    if (message?.id === undefined || result === undefined) return (response.writeHead(405).end(), true)
    return (json(response, { jsonrpc: '2.0', id: message.id, result }), true)
  }
}

/** Wants a parameter in a header, which its list says only from the second time on. */
const forgetful: Script = (request, response, http) => {
  const { message, headers } = request
  const region = { type: 'string', ...(http.count('tools/list') > 1 && { 'x-mcp-header': 'Region' }) }
  const inputSchema = { type: 'object', properties: { region } }
  if (message?.method !== 'tools/call' || headers['mcp-param-region'] === 'eu')
    return modern({ name: 'do', inputSchema })(request, response, http)
  const error = { code: -32020, message: 'Mcp-Param-Region is missing' }
  response.writeHead(400, { 'content-type': 'application/json' })
  return (response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, error })), true)
}

/** The older protocol at first, and after its sessions were forgotten the newest alone, or both. */
function upgraded(after: 'alone' | 'with the older'): Script {
  let isNew = false
  return (request, response, http) => {
    const { method } = request.message ?? {}
    if (!isNew && method !== 'tools/call') return false
    if (!isNew) http.sessions.clear()
    isNew = true
    const session = request.headers['mcp-session-id']
    const isOlder = after === 'with the older' && (method === 'initialize' || http.sessions.has(String(session)))
    if (isOlder) return false
    return session === undefined
      ? modern({ name: 'better' })(request, response, http)
      : (response.writeHead(404).end(), true)
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
      const tool = (await ready()).tools.find(({ serverToolName }) => serverToolName === '搜索')
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
  {
    row: 'M5 M3 G8',
    does: 'wants in a header what its list did not say',
    options: patient,
    script: forgetful,
    async check({ ready, call, http }) {
      await ready()
      expect(wordsOf(await call('do', { region: 'eu' }))).toBe('done')
      expect([http.count('tools/list'), http.count('tools/call')]).toEqual([2, 2])
      const ids = http.requests.flatMap(({ message }) => (message?.method === 'tools/call' ? [message.id] : []))
      expect(new Set(ids).size).toBe(2)
    },
  },
  {
    row: 'T4 T5 Z7',
    does: 'lets everything be kept for an hour, for whoever asked alone',
    options: patient,
    script: (request, response, http) => {
      const who = String(request.headers.authorization)
      const kept = (result: object) => ({ ...complete(result), ttlMs: 3_600_000 })
      const resources = [{ uri: 'test://mine', name: who }]
      return modern({
        name: who.slice(-3),
        capabilities: { resources: {} },
        results: {
          'resources/list': kept({ resources }),
          'resources/templates/list': kept({ resourceTemplates: [] }),
          'resources/read': kept({
            contents: [{ uri: 'test://mine', text: `${who} ${http.count('resources/read')}` }],
          }),
        },
      })(request, response, http)
    },
    async check({ bench, http, server }) {
      const readBy = async (who: string) => {
        const headers = [['Authorization', `Bearer ${who}`]] as const
        const registry = bench.open([{ ...server, headers } as typeof server])
        const tools = originals(await registry.ready(20_000, never))
        const [body] = await registry.read('s', 'test://mine', { signal: never })
        return { tools, text: body !== undefined && 'text' in body ? body.text : undefined }
      }
      expect(await readBy('ann')).toEqual({ tools: ['say', 'ann'], text: 'Bearer ann 1' })
      expect(await readBy('bob')).toEqual({ tools: ['say', 'bob'], text: 'Bearer bob 2' })
      // Whoever wants to read wants what is there now.
      expect((await readBy('ann')).text).toBe('Bearer ann 3')
      expect(http.count('tools/list')).toBeGreaterThan(2)
    },
  },
  ...(['alone', 'with the older'] as const).map((after): HttpCase => ({
    row: 'N5',
    does: `is replaced by one that speaks the newest protocol ${after}`,
    options: patient,
    script: upgraded(after),
    async check({ ready, call, failure, registry }) {
      expect((await ready()).servers[0]?.era).toBe('legacy')
      // The first call meets the new server, which does not have that tool any more.
      await failure('do').catch(() => undefined)
      await changeTo(registry, ({ servers }) => servers[0]?.era === 'modern')
      expect(originals(registry.list())).toContain('better')
      await call('better')
    },
  })),
]

describe.concurrent('a server over HTTP without a handshake', () => {
  for (const one of cases) test(`${one.does} [${one.row}]`, () => playHttp(one))
})
