/** Servers that speak only the first protocol over HTTP, announced as such or not, and what a session notices of it. */
import { describe, expect, test } from 'vitest'
import { listen, overSse } from '../fixtures/mcp/http-server.ts'
import { playHttp, type HttpCase } from '../fixtures/mcp/torture-http.ts'
import { changeTo, wordsOf } from '../fixtures/mcp/torture.ts'

const works: HttpCase['check'] = async ({ ready, call }) => {
  expect((await ready()).servers[0]).toMatchObject({ state: 'ready' })
  expect(wordsOf(await call('say', { text: 'hi' }))).toBe('hi')
}

const older: readonly HttpCase[] = [
  {
    row: 'founding B E3 H2',
    does: 'speaks SSE as announced, and gets the headers of the client with everything',
    type: 'sse',
    headers: [['x-team', 'red']],
    script: overSse(),
    async check(scene) {
      await works(scene)
      const sent = scene.http.requests.map(({ verb, headers }) => `${verb} ${String(headers['x-team'])}`)
      expect(new Set(sent)).toEqual(new Set(['GET red', 'POST red']))
    },
  },
  ...[405, 404, 400].map((status): HttpCase => ({
    row: 'E1 G4',
    does: `speaks only SSE behind an HTTP entry and says ${status}`,
    script: overSse(undefined, status),
    check: works,
  })),
  {
    row: 'E2',
    does: 'names an address of somebody else',
    type: 'sse',
    script: (_, response, http) => {
      listen(response, http)
      return (response.write('event: endpoint\ndata: http://127.0.0.1:9/messages\n\n'), true)
    },
    check: async ({ ready }) => expect((await ready()).servers[0]).toMatchObject({ state: 'failed' }),
  },
  ...(['sse', 'http'] as const).map((type): HttpCase => ({
    row: type === 'sse' ? 'G1' : 'G1 E1 (behind an HTTP entry)',
    does: 'loses the stream of SSE in the middle of a call',
    type,
    script: overSse((_request, _response, { streams: open }) => {
      for (const stream of open) stream.destroy()
      open.clear()
    }),
    async check({ ready, failure, call, registry, http }) {
      await ready()
      const met = http.count('GET')
      // Whoever waited for its limit would have said TOOL_TIMEOUT.
      expect(await failure('do', {}, { timeoutMs: 20_000 })).toBe('TOOL_LOST')
      await changeTo(registry, ({ servers }) => servers[0]?.state === 'ready')
      expect(http.count('GET')).toBe(met + 1)
      expect(wordsOf(await call('say', { text: 'back' }))).toBe('back')
    },
  })),
  {
    row: 'E1 E4',
    does: 'opens a stream of SSE and never says where to post',
    options: { limits: { silenceMs: 1000 } },
    script: (request, response, http) =>
      request.verb === 'GET' ? (listen(response, http), true) : (response.writeHead(405).end(), true),
    async check({ ready }) {
      // That it was no use as a last resort says nothing; what it said at first does.
      expect((await ready()).servers[0]).toMatchObject({ state: 'failed', reason: expect.stringContaining('HTTP 405') })
    },
  },
]

describe.concurrent('a server over SSE', () => {
  for (const one of older) test(`${one.does} [${one.row}]`, () => playHttp(one))
})
