import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, McpServer as SdkServer } from '@modelcontextprotocol/server'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { toolsContract } from '../../../test/contracts/tools.ts'
import {
  startHttpServer,
  type HttpServerOptions,
  type ScriptedHttpServer,
} from '../../../test/fixtures/mcp/http-server.ts'
import { namesOf, openBench, stdioServer, withoutSignal } from '../../../test/fixtures/mcp/servers.ts'
import { freePort } from '../../../test/fixtures/process/free-port.ts'
import { PerTest } from '../../../test/fixtures/process/per-test.ts'
import { until } from '../../../test/fixtures/process/running.ts'
import type { McpServer, ToolRegistry } from '../../ports/tools.ts'
import type { ToolHostOptions } from './host.ts'

const closing = new PerTest<() => Promise<unknown>>(async (opened) => {
  for (const close of opened.toReversed()) await close()
})
closing.closeAfterEach()

const signal = new AbortController().signal

async function served(options: HttpServerOptions = {}): Promise<ScriptedHttpServer> {
  const server = await startHttpServer(options)
  closing.add(() => server.close())
  return server
}

function open(servers: readonly McpServer[], options: Partial<ToolHostOptions> = {}): ToolRegistry {
  const bench = openBench(options)
  closing.add(() => bench.close())
  return bench.open(servers)
}

function web(url: string, headers: readonly (readonly [string, string])[] = []): McpServer {
  return { type: 'http', name: 'web', url, headers }
}

describe('a registry over HTTP', () => {
  toolsContract(async () => {
    const server = await startHttpServer({ answers: 'stream' })
    const bench = openBench()
    const close = async (): Promise<void> => {
      await bench.close()
      await server.close()
    }
    const again = (): ToolRegistry => bench.open([web(server.url)], 'session')
    return { registry: again(), again, say: 'web__say', slow: 'web__think', close }
  })
})

describe('a server over Streamable HTTP', () => {
  for (const answers of ['json', 'stream'] as const) {
    test.concurrent(`is listed, called and closed with answers as ${answers}, with the client's headers on every request [H1]`, async () => {
      const server = await served({ answers })
      const headers = [
        ['X-Team', 'blue'],
        ['AUTHORIZATION', 'Bearer sentinel-secret'],
        ['Mcp-Session-Id', 'forged'],
        ['accept', 'text/plain'],
      ] as const
      const registry = open([web(`${server.url}?api_key=k`, headers)])
      const list = await registry.ready(60_000, signal)
      expect(list.servers).toMatchObject([{ name: 'web', title: 'Raw HTTP', state: 'ready', tools: 6, era: 'legacy' }])
      expect(await registry.call('web__echo', { a: 1 }, withoutSignal())).toMatchObject({
        content: [{ text: '{"a":1}' }],
      })
      await until(() => server.listening() === 1)
      await registry.close()
      expect(new Set(server.seen.map((request) => request.method))).toEqual(new Set(['POST', 'GET', 'DELETE']))
      for (const { headers: sent, url } of server.seen) {
        expect(sent).toMatchObject({ 'x-team': 'blue', authorization: 'Bearer sentinel-secret' })
        expect(sent['mcp-session-id']).not.toBe('forged')
        expect(url).toBe('/mcp?api_key=k')
      }
      expect(server.seen.at(-1)?.method).toBe('DELETE')
      await until(() => server.listening() === 0)
    })
  }

  test.concurrent('that is slow is connected anyway, and one that refuses is reported with its status only', async () => {
    const slow = await served({ slowMs: 400 })
    const refusing = await served({ status: 503 })
    const registry = open(
      [
        { ...web(slow.url), name: 'slow' },
        { ...web(`${refusing.url}?key=sentinel-secret`), name: 'refusing' },
      ],
      { limits: { probeMs: 200 } },
    )
    const list = await registry.ready(60_000, signal)
    expect(list.servers.map((server) => server.state)).toEqual(['ready', 'failed'])
    expect(list.servers[1]?.reason).toBe(
      `Could not connect to MCP server refusing: http://127.0.0.1:${refusing.port}: the server answered HTTP 503.`,
    )
  })

  test.concurrent('that is unreachable, or has an invalid address, is reported without its secrets [L7]', async () => {
    const gone = await startHttpServer({ port: await freePort() })
    await gone.close()
    const headers = [['X-Key', 'sentinel-secret\nX-Other: 1']] as const
    const registry = open([
      web(`${gone.url}?key=sentinel-secret`),
      web('not a url sentinel-secret'),
      web(gone.url, headers),
    ])
    const list = await registry.ready(60_000, signal)
    expect(list.servers.map((server) => server.state)).toEqual(['failed', 'failed', 'failed'])
    expect(list.servers[0]?.reason).toContain('ECONNREFUSED')
    expect(JSON.stringify(list)).not.toContain('sentinel')
  })

  test.concurrent('notifies of new tools, also after its stream was lost', async () => {
    const server = await served()
    const registry = open([web(server.url)])
    await registry.ready(60_000, signal)
    await until(() => server.listening() === 1)
    server.addTool('first')
    await until(() => namesOf(registry).includes('web__first'))
    server.dropStreams()
    await until(() => server.listening() === 0)
    server.addTool('unheard')
    await until(() => namesOf(registry).includes('web__unheard'))
  })

  test.concurrent('whose answer breaks off fails the call at once, and the call is not repeated', async () => {
    const server = await served({ answers: 'stream' })
    const registry = open([web(server.url)])
    await registry.ready(60_000, signal)
    await expect(registry.call('web__vanish', {}, withoutSignal())).rejects.toMatchObject({ code: 'TOOL_LOST' })
    await expect(registry.call('web__break', {}, withoutSignal())).rejects.toMatchObject({ code: 'TOOL_LOST' })
    expect(server.methods().filter((method) => method === 'tools/call')).toHaveLength(2)
    expect(await registry.call('web__echo', {}, withoutSignal())).toMatchObject({ isError: false })
  })

  test.concurrent('that never stops answering is cut off', async () => {
    const server = await served()
    const registry = open([web(server.url)])
    await registry.ready(60_000, signal)
    const call = registry.call('web__flood', {}, withoutSignal())
    await expect(call).rejects.toThrow(/was lost: the answer is longer than 67108864 bytes/)
    expect(await registry.call('web__echo', {}, withoutSignal())).toMatchObject({ isError: false })
  })

  test.concurrent('that has forgotten the session is connected again, once, and the call succeeds', async () => {
    const server = await served()
    const registry = open([web(server.url)])
    await registry.ready(60_000, signal)
    server.forgetSessions()
    const calls = [1, 2, 3, 4, 5].map((n) => registry.call('web__echo', { n }, withoutSignal()))
    expect((await Promise.all(calls)).map((result) => result.content)).toEqual(
      [1, 2, 3, 4, 5].map((n) => [{ type: 'text', text: `{"n":${n}}` }]),
    )
    expect(server.methods().filter((method) => method === 'initialize')).toHaveLength(2)
  })

  test.concurrent('that goes away fails, and is connected again when it is needed', async () => {
    const server = await served({ port: await freePort() })
    const registry = open([web(server.url)])
    await registry.ready(60_000, signal)
    await until(() => server.listening() === 1)
    await server.close()
    await until(() => registry.list().servers[0]?.state === 'failed')
    expect(registry.list().tools).toEqual([])
    await served({ port: server.port })
    expect((await registry.ready(60_000, signal)).servers[0]?.state).toBe('ready')
  })

  test.concurrent('that went away unnoticed was not reached by the call', async () => {
    const server = await served({ quiet: true, port: await freePort() })
    const registry = open([web(server.url)])
    await registry.ready(60_000, signal)
    await server.close()
    const call = registry.call('web__echo', {}, withoutSignal())
    await expect(call).rejects.toMatchObject({ code: 'TOOL_NOT_RUN' })
  })
})

describe('a server of the newest protocol', () => {
  async function modern(): Promise<{ url: string; add(name: string): void; seen: string[] }> {
    const names = ['greet']
    const seen: string[] = []
    const handler = createMcpHandler(() => {
      const server = new SdkServer(
        { name: 'modern', title: 'Modern', version: '1' },
        { capabilities: { tools: { listChanged: true } } },
      )
      for (const name of names) {
        server.registerTool(
          name,
          { description: name, inputSchema: z.object({ who: z.string() }) },
          async ({ who }) => {
            await new Promise((resolve) => setTimeout(resolve, who === 'slow' ? 60_000 : 0))
            return { content: [{ type: 'text', text: `hello ${who}` }] }
          },
        )
      }
      return server
    })
    const node = toNodeHandler(handler) as (request: IncomingMessage, response: ServerResponse) => Promise<void>
    const http: Server = createServer((request, response) => {
      seen.push(String(request.headers['mcp-method']))
      if (seen.at(-1) === 'tools/call')
        response.on('close', () => seen.push(response.writableFinished ? 'answered' : 'left'))
      void node(request, response)
    })
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
    closing.add(async () => {
      http.closeAllConnections()
      await new Promise((resolve) => http.close(resolve))
    })
    const add = (name: string): void => {
      names.push(name)
      handler.notify.toolsChanged()
    }
    return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`, add, seen }
  }

  test.concurrent('is used with that protocol, from the handshake to changes of its tools', async () => {
    const server = await modern()
    const registry = open([web(server.url)])
    const list = await registry.ready(60_000, signal)
    expect(list.servers[0]).toMatchObject({
      title: 'Modern',
      state: 'ready',
      tools: 1,
      era: 'modern',
      protocol: '2026-07-28',
    })
    expect(await registry.call('web__greet', { who: 'you' }, withoutSignal())).toEqual({
      content: [{ type: 'text', text: 'hello you' }],
      isError: false,
    })
    await until(() => server.seen.includes('subscriptions/listen'))
    server.add('wave')
    await until(() => namesOf(registry).includes('web__wave'))
    expect(server.seen).not.toContain('initialize')
  })

  test.concurrent('notices a cancelled call by its stream [M6]', async () => {
    const server = await modern()
    const registry = open([web(server.url)])
    await registry.ready(60_000, signal)
    const abort = new AbortController()
    const call = registry
      .call('web__greet', { who: 'slow' }, withoutSignal({ signal: abort.signal }))
      .catch((error: unknown) => error)
    await until(() => server.seen.includes('tools/call'))
    abort.abort()
    expect(await call).toMatchObject({ code: 'TOOL_CANCELLED' })
    await until(() => server.seen.includes('left'))
  })
})

describe('a server of the first protocol over HTTP', () => {
  test.concurrent('is connected over its event stream, with the headers of the client', async () => {
    const seen: (string | undefined)[] = []
    let stream: ServerResponse | undefined
    const http = createServer((request, response) => {
      seen.push(`${request.method} ${String(request.headers['x-key'])}`)
      if (request.method === 'GET') {
        stream = response.writeHead(200, { 'content-type': 'text/event-stream' })
        return void stream.write('event: endpoint\ndata: /messages\n\n')
      }
      let text = ''
      request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      request.on('end', () => {
        response.writeHead(202).end()
        const { id, method } = JSON.parse(text) as { id?: number; method: string }
        const results: Readonly<Record<string, object>> = {
          initialize: {
            protocolVersion: '2024-11-05',
            capabilities: { tools: {} },
            serverInfo: { name: 'first', version: '1' },
          },
          'tools/list': { tools: [{ name: 'old', inputSchema: { type: 'object' } }] },
          'tools/call': { content: [{ type: 'text', text: 'still here' }] },
        }
        if (id !== undefined)
          stream?.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result: results[method] })}\n\n`)
      })
    })
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
    closing.add(async () => {
      http.closeAllConnections()
      await new Promise((resolve) => http.close(resolve))
    })
    const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/sse`
    const registry = open([{ type: 'sse', name: 'first', url, headers: [['X-Key', 'k']] }])
    expect((await registry.ready(60_000, signal)).servers[0]).toMatchObject({ state: 'ready', title: 'first' })
    expect(await registry.call('first__old', {}, withoutSignal())).toMatchObject({ content: [{ text: 'still here' }] })
    expect(new Set(seen)).toEqual(new Set(['GET k', 'POST k']))
  })
})

test.concurrent('a configured server that cannot be started affects no other', async () => {
  const locate = (): Promise<McpServer> => Promise.reject(new Error('no index'))
  const docs = { name: 'docs', rules: {}, joins: { rules: {}, isProcess: false, identity: 'docs', locate } }
  const list = await open([stdioServer('other')], { configured: () => [docs] }).ready(60_000, signal)
  expect(list.servers).toMatchObject([{ state: 'ready' }, { state: 'failed', reason: 'no index' }])
})
