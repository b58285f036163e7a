import { describe, expect, test } from 'vitest'
import { toolsContract } from '../../../test/contracts/tools.ts'
import { gate, messageLog, openBench, type Bench } from '../../../test/fixtures/mcp/servers.ts'
import { stdioServer, withoutSignal } from '../../../test/fixtures/mcp/servers.ts'
import { changeTo } from '../../../test/fixtures/mcp/torture.ts'
import { PerTest } from '../../../test/fixtures/process/per-test.ts'
import { carrying, until } from '../../../test/fixtures/process/running.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ToolList, ToolRegistry } from '../../ports/tools.ts'
import { systemClock } from '../clock.ts'
import type { ToolHostOptions } from './host.ts'

const benches = new PerTest<Bench>(async (opened) => {
  await Promise.all(opened.map((bench) => bench.close()))
})
benches.closeAfterEach()

function bench(options: Partial<ToolHostOptions> = {}): Bench {
  const made = openBench(options)
  benches.add(made)
  return made
}

const signal = new AbortController().signal

async function readied(registry: ToolRegistry, limitMs = 60_000): Promise<ToolList> {
  return await registry.ready(limitMs, signal)
}

describe('a registry over stdio', () => {
  toolsContract(async () => {
    const made = openBench()
    const again = (): ToolRegistry => made.open([stdioServer('s')], 'session')
    return { registry: again(), again, say: 's__echo', slow: 's__think', close: () => made.close() }
  })
})

describe('connecting', () => {
  test.concurrent('a server is connected and initialized, and all pages of its tools are listed [S13]', async () => {
    const registry = bench().open([stdioServer('docs', { pageSize: 2 })])
    expect(registry.list()).toMatchObject({ tools: [], servers: [{ name: 'docs', state: 'connecting' }] })
    const list = await readied(registry)
    expect(list.servers).toMatchObject([{ name: 'docs', title: 'Scripted Server', state: 'ready', tools: 9 }])
    expect(list.servers[0]).toMatchObject({ era: 'legacy', protocol: '2025-11-25', latencyMs: expect.any(Number) })
    const schema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
    const names = { name: 'docs__echo', serverToolName: 'echo', title: 'Echo', description: 'Says it again' }
    const definitionHash = expect.stringMatching(/^[0-9a-f]{16}$/) as string
    const schemas = { inputSchema: schema, modelSchema: schema, definitionHash }
    expect(list.tools[0]).toEqual({ ...names, ...schemas, server: 'docs', builtin: false, readOnly: true })
  })

  test.concurrent('a server that hangs after that request is started again', async () => {
    const limits = { probeMs: 100, silenceMs: 100, graceMs: 100 }
    const registry = bench({ limits }).open([stdioServer('old', { probe: 'wedge' })])
    expect((await readied(registry)).servers[0]?.state).toBe('ready')
  })

  test.concurrent('opening never waits, and a slow, a silent and a missing server do not delay the others', async () => {
    const made = bench()
    const slow = gate()
    const registry = made.open([
      stdioServer('slow', { awaits: slow.path }),
      stdioServer('silent', { mute: true }),
      { type: 'stdio', name: 'missing', command: 'no-such-server', args: [], env: {} },
      stdioServer('good'),
    ])
    expect(new Set(registry.list().servers.map((server) => server.state))).toEqual(new Set(['connecting']))
    await changeTo(registry, (list) => list.servers[3]?.state === 'ready')
    const waiting = registry.list().servers.slice(0, 2)
    expect(waiting.map((server) => server.state)).toEqual(['connecting', 'connecting'])
    const said = await registry.call('good__echo', { text: 'hi' }, withoutSignal())
    expect(said).toMatchObject({ content: [{ text: 'hi' }] })
    slow.open()
    await changeTo(registry, ({ servers }) => servers[0]?.state === 'ready' && servers[2]?.state === 'failed')
    const list = await readied(registry, 50)
    expect(list.servers.map((server) => server.state)).toEqual(['ready', 'connecting', 'failed', 'ready'])
    expect(list.servers[2]?.reason).toBe(
      'Could not connect to MCP server missing: The command no-such-server was not found. Install it, or give its absolute path.',
    )
  })

  test.concurrent('a server that timed out once is not waited for again, and others are', async () => {
    const limits = { silenceMs: 3_600_000, connectMs: 3_600_000 }
    // A wait for so long is over when the test says so.
    const long = 7_200_000
    const ends: (() => void)[] = []
    const setTimer: Clock['setTimer'] = (ms, run) => {
      if (ms !== long) return systemClock.setTimer(ms, run)
      ends.push(run)
      return { cancel: () => undefined }
    }
    const slow = gate()
    const registry = bench({ limits, clock: { ...systemClock, setTimer } }).open([
      stdioServer('silent', { mute: true }),
      stdioServer('slow', { awaits: slow.path }),
    ])
    await readied(registry, 0)
    expect((await readied(registry, 10)).servers.map(({ state }) => state)).toEqual(['connecting', 'connecting'])
    slow.open()
    await changeTo(registry, (list) => list.servers[1]?.state === 'ready')
    const waiting = readied(registry, long)
    for (const end of ends.splice(0)) end()
    expect((await waiting).servers[0]?.state).toBe('connecting')
    expect((await readied(registry, long)).servers[0]?.state).toBe('connecting')
  })

  test.concurrent('a silent server fails in the end, and its process is gone', async () => {
    const made = bench({ limits: { probeMs: 50, silenceMs: 50, connectMs: 50, graceMs: 50 } })
    const registry = made.open([stdioServer('silent', { mute: true, stubborn: true })])
    const list = await readied(registry)
    const reason = 'Could not connect to MCP server silent: it did not answer in time.'
    expect(list.servers[0]).toMatchObject({ state: 'failed', reason })
    // A process that is killed is gone when the kernel has let go of it.
    await until(() => carrying(made.marker).length === 0)
  })

  test.concurrent('a server that ends at once is reported with its stderr, without its secrets', async () => {
    const args = ['-e', 'console.error("no", process.env.TOKEN); process.exit(4)']
    const server = { ...stdioServer('broken', {}, { TOKEN: 'sentinel-secret' }), args }
    const { servers } = await readied(bench().open([server]))
    const reason = 'Could not connect to MCP server broken: it ended with exit code 4: no [hidden].'
    expect(servers[0]?.reason).toBe(reason)
  })

  test.concurrent('closing ends servers that ignore it and their processes, also while they connect', async () => {
    const made = bench({ limits: { graceMs: 50 } })
    const ready = made.open([stdioServer('stubborn', { stubborn: true })])
    await readied(ready)
    const connecting = made.open([stdioServer('silent', { mute: true, stubborn: true })])
    await Promise.all([ready.close(), connecting.close(), ready.close()])
    expect(carrying(made.marker)).toEqual([])
    expect(ready.list().servers[0]?.state).toBe('closed')
    const call = ready.call('stubborn__echo', { text: '' }, withoutSignal())
    await expect(call).rejects.toMatchObject({ code: 'TOOL_NOT_RUN' })
  })
})

describe('a call', () => {
  async function one(options: Readonly<Record<string, unknown>> = {}): Promise<ToolRegistry> {
    const registry = bench().open([stdioServer('s', options)])
    await readied(registry)
    return registry
  }

  test.concurrent('with wrong arguments, or cancelled before, is refused before it is sent', async () => {
    const log = messageLog()
    const registry = await one({ log: log.path })
    const refused = registry.call('s__echo', { text: 5 }, withoutSignal())
    const sentence = 'The arguments of tool s__echo are invalid: they/text must be string. It was not called.'
    await expect(refused).rejects.toThrow(sentence)
    for (const args of [undefined, 'text'])
      await expect(registry.call('s__echo', args, withoutSignal())).rejects.toMatchObject({ code: 'TOOL_ARGUMENTS' })
    const cancelled = registry.call('s__echo', { text: '' }, { signal: AbortSignal.abort() })
    await expect(cancelled).rejects.toMatchObject({ code: 'TOOL_NOT_RUN' })
    expect(log.methods()).not.toContain('tools/call')
  })

  test.concurrent('has its timeout restarted by each progress notification', async () => {
    const timeoutMs = 123_456
    const timeouts: { readonly end: () => void; isCancelled: boolean }[] = []
    const setTimer: Clock['setTimer'] = (ms, end) => {
      if (ms !== timeoutMs) return systemClock.setTimer(ms, end)
      const timeout = { end, isCancelled: false }
      timeouts.push(timeout)
      return { cancel: () => void (timeout.isCancelled = true) }
    }
    const registry = bench({ clock: { ...systemClock, setTimer } }).open([stdioServer('s')])
    await readied(registry)
    const seen: (string | undefined)[] = []
    const options = withoutSignal({ timeoutMs, onProgress: (progress) => seen.push(progress.message) })
    const call = registry.call('s__think', { every: 20 }, options).catch((error: unknown) => error)
    await until(() => timeouts.length > 5)
    expect(timeouts.map(({ isCancelled }) => isCancelled)).toEqual(timeouts.map((_, at) => at < timeouts.length - 1))
    expect(seen[0]).toBe('still')
    timeouts.at(-1)?.end()
    expect(await call).toMatchObject({ code: 'TOOL_TIMEOUT', details: { ms: timeoutMs } })
  })
})
