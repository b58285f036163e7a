/** Servers that speak only the first protocol over HTTP, announced as such or not, and what a session notices of it. */
import { describe, expect, test } from 'vitest'
import { listen, playHttp, type HttpCase, type Script } from '../fixtures/mcp/torture-http.ts'
import { changeTo, wordsOf } from '../fixtures/mcp/torture.ts'

const works: HttpCase['check'] = async ({ ready, call }) => {
  expect((await ready()).servers[0]).toMatchObject({ state: 'ready' })
  expect(wordsOf(await call('say', { text: 'hi' }))).toBe('hi')
}

/** The first protocol over HTTP: one stream that brings everything, and an address to post to. `over` is for calls of `do`. */
function first(
  over: (stream: Parameters<Script>[1], http: Parameters<Script>[2]) => void = () => undefined,
  refusal = 405,
): Script {
  return ({ verb, url, message }, response, http) => {
    if (verb === 'GET') {
      listen(response, http)
      response.write('event: endpoint\ndata: /messages?session=1\n\n')
      return true
    }
    if (!url.startsWith('/messages')) return (response.writeHead(refusal).end(), true)
    response.writeHead(202).end()
    const [stream] = http.streams
    if (message?.params?.['name'] === 'do') over(response, http)
    const box = {
      writeHead: () => box,
      setHeader: () => box,
      end: (words: string) => stream?.write(`data: ${words}\n\n`),
    }
    if (message?.id !== undefined) http.answer(box as never, message)
    return true
  }
}

const older: readonly HttpCase[] = [
  { row: 'founding B E3', does: 'speaks SSE as announced', type: 'sse', script: first(), check: works },
  ...[405, 404, 400].map((status): HttpCase => ({
    row: 'E1 G4',
    does: `speaks only SSE behind an HTTP entry and says ${status}`,
    script: first(undefined, status),
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
    script: first((_, { streams: open }) => {
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
