import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, McpServer as SdkServer } from '@modelcontextprotocol/server'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { toolsContract } from '../../../test/contracts/tools.ts'
import { startHttpServer } from '../../../test/fixtures/mcp/http-server.ts'
import type { HttpServerOptions, ScriptedHttpServer } from '../../../test/fixtures/mcp/http-server.ts'
import { openBench, stdioServer, withoutSignal } from '../../../test/fixtures/mcp/servers.ts'
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
      expect(list.servers).toMatchObject([{ name: 'web', state: 'ready', tools: 3, era: 'legacy' }])
      const said = await registry.call('web__echo', { a: 1 }, withoutSignal())
      expect(said).toMatchObject({ content: [{ text: '{"a":1}' }] })
      await until(() => server.streams.size === 1)
      await registry.close()
      expect(new Set(server.requests.map(({ verb }) => verb))).toEqual(new Set(['POST', 'GET', 'DELETE']))
      for (const { headers: sent, url } of server.requests) {
        expect(sent).toMatchObject({ 'x-team': 'blue', authorization: 'Bearer sentinel-secret' })
        expect(sent['mcp-session-id']).not.toBe('forged')
        expect(url).toBe('/mcp?api_key=k')
      }
      expect(server.requests.at(-1)?.verb).toBe('DELETE')
      await until(() => server.streams.size === 0)
    })
  }

  test.concurrent('that is slow is connected anyway, and one that refuses is reported with its status only', async () => {
    const slow = await served({ slowMs: 400 })
    const refusing = await served({ status: 503 })
    const servers = [
      { ...web(slow.url), name: 'slow' },
      { ...web(`${refusing.url}?key=sentinel-secret`), name: 'refusing' },
    ]
    const registry = open(servers, { limits: { probeMs: 200 } })
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
    const wrong = [web(`${gone.url}?key=sentinel-secret`), web('not a url sentinel-secret')]
    const registry = open([...wrong, web(gone.url, headers)])
    const list = await registry.ready(60_000, signal)
    expect(list.servers.map((server) => server.state)).toEqual(['failed', 'failed', 'failed'])
    expect(list.servers[0]?.reason).toContain('ECONNREFUSED')
    expect(JSON.stringify(list)).not.toContain('sentinel')
  })

  test.concurrent('that goes away fails, and is connected again when it is needed', async () => {
    const server = await served({ port: await freePort() })
    const registry = open([web(server.url)])
    await registry.ready(60_000, signal)
    await until(() => server.streams.size === 1)
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

/** Its tool never answers; what it heard, and that a call was given up. */
async function modern(): Promise<{ readonly url: string; readonly seen: readonly string[] }> {
  const seen: string[] = []
  const handler = createMcpHandler(() => {
    const server = new SdkServer({ name: 'modern', version: '1' }, { capabilities: { tools: {} } })
    server.registerTool('wait', { inputSchema: z.object({}) }, () => new Promise(() => undefined))
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
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`, seen }
}

test.concurrent('a server of the newest protocol notices a cancelled call by its stream [M6]', async () => {
  const server = await modern()
  const registry = open([web(server.url)])
  await registry.ready(60_000, signal)
  const abort = new AbortController()
  const call = registry.call('web__wait', {}, withoutSignal({ signal: abort.signal }))
  const outcome = call.catch((error: unknown) => error)
  await until(() => server.seen.includes('tools/call'))
  abort.abort()
  expect(await outcome).toMatchObject({ code: 'TOOL_CANCELLED' })
  await until(() => server.seen.includes('left'))
})

test.concurrent('a configured server that cannot be started affects no other', async () => {
  const locate = (): Promise<McpServer> => Promise.reject(new Error('no index'))
  const docs = { name: 'docs', rules: {}, joins: { rules: {}, isProcess: false, identity: 'docs', locate } }
  const list = await open([stdioServer('other')], { configured: () => [docs] }).ready(60_000, signal)
  expect(list.servers).toMatchObject([{ state: 'ready' }, { state: 'failed', reason: 'no index' }])
})
