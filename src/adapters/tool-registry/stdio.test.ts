import { describe, expect, test } from 'vitest'
import { toolsContract } from '../../../test/contracts/tools.ts'
import {
  messageLog,
  namesOf,
  openBench,
  stdioServer,
  withoutSignal,
  type Bench,
} from '../../../test/fixtures/mcp/servers.ts'
import { PerTest } from '../../../test/fixtures/process/per-test.ts'
import { carrying, until } from '../../../test/fixtures/process/running.ts'
import type { ToolList, ToolRegistry } from '../../ports/tools.ts'
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

async function readied(registry: ToolRegistry, limitMs = 20_000): Promise<ToolList> {
  return await registry.ready(limitMs, signal)
}

function changeTo(registry: ToolRegistry, wanted: (list: ToolList) => boolean): Promise<ToolList> {
  return new Promise((resolve) => {
    const stop = registry.onChange((list) => {
      if (!wanted(list)) return
      stop()
      resolve(list)
    })
  })
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
    expect(list.tools[0]).toEqual({
      definitionHash: expect.stringMatching(/^[0-9a-f]{16}$/),
      name: 'docs__echo',
      serverToolName: 'echo',
      title: 'Echo',
      description: 'Says it again',
      inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
      modelSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
      server: 'docs',
      builtin: false,
      readOnly: true,
    })
  })

  test.concurrent('of more than a thousand tools, in whatever pages, the first thousand are used and one warning says so', async () => {
    const tools = Array.from({ length: 1500 }, (_, at) => ({ name: `t${at}`, inputSchema: { type: 'object' } }))
    const here = bench()
    const registry = here.open([stdioServer('many', { tools, pageSize: 400 })])
    expect((await readied(registry)).servers).toMatchObject([{ state: 'ready', tools: 1000 }])
    expect(here.warnings.filter((warning) => warning.includes('more than 1000 tools'))).toHaveLength(1)
  })

  test.concurrent('a server that prints other text to stdout works', async () => {
    const registry = bench().open([stdioServer('noisy', { junk: true })])
    expect((await readied(registry)).servers[0]?.state).toBe('ready')
  })

  test.concurrent('a server that ends at an unknown request is started again with the older handshake', async () => {
    const log = messageLog()
    const registry = bench().open([stdioServer('old', { probe: 'exit', log: log.path })])
    expect((await readied(registry)).servers[0]?.state).toBe('ready')
    expect(log.methods().slice(0, 3)).toEqual(['server/discover', 'initialize', 'notifications/initialized'])
    expect(new Set(log.read().map((message) => message.pid)).size).toBe(2)
  })

  test.concurrent('a server that is silent at that request is kept', async () => {
    const log = messageLog()
    const registry = bench({ limits: { probeMs: 100 } }).open([stdioServer('old', { probe: 'mute', log: log.path })])
    expect((await readied(registry)).servers[0]?.state).toBe('ready')
    expect(new Set(log.read().map((message) => message.pid)).size).toBe(1)
  })

  test.concurrent('a server that hangs after that request is started again', async () => {
    const limits = { probeMs: 100, silenceMs: 100, graceMs: 100 }
    const registry = bench({ limits }).open([stdioServer('old', { probe: 'wedge' })])
    expect((await readied(registry)).servers[0]?.state).toBe('ready')
  })

  test.concurrent('opening never waits, and a slow, a silent and a missing server do not delay the others', async () => {
    const made = bench()
    const registry = made.open([
      stdioServer('slow', { slowMs: 3000 }),
      stdioServer('silent', { mute: true }),
      { type: 'stdio', name: 'missing', command: 'no-such-server', args: [], env: {} },
      stdioServer('good'),
    ])
    expect(new Set(registry.list().servers.map((server) => server.state))).toEqual(new Set(['connecting']))
    await changeTo(registry, (list) => list.servers[3]?.state === 'ready')
    expect(
      registry
        .list()
        .servers.slice(0, 2)
        .map((server) => server.state),
    ).toEqual(['connecting', 'connecting'])
    expect(await registry.call('good__echo', { text: 'hi' }, withoutSignal())).toMatchObject({
      content: [{ text: 'hi' }],
    })
    const list = await readied(registry, 4000)
    expect(list.servers.map((server) => server.state)).toEqual(['ready', 'connecting', 'failed', 'ready'])
    expect(list.servers[2]?.reason).toBe(
      'Could not connect to MCP server missing: The command no-such-server was not found. Install it, or give its absolute path.',
    )
  })

  test.concurrent('a server that timed out once is not waited for again, and others are', async () => {
    const limits = { silenceMs: 3_600_000, connectMs: 3_600_000 }
    const registry = bench({ limits }).open([
      stdioServer('silent', { mute: true }),
      stdioServer('slow', { slowMs: 1000 }),
    ])
    await readied(registry, 0)
    expect((await readied(registry, 10)).servers.map(({ state }) => state)).toEqual(['connecting', 'connecting'])
    await changeTo(registry, (list) => list.servers[1]?.state === 'ready')
    const began = performance.now()
    await readied(registry, 2000)
    const since = performance.now()
    expect((await readied(registry, 2000)).servers[0]?.state).toBe('connecting')
    expect(performance.now() - since).toBeLessThan((since - began) / 2)
  })

  test.concurrent('waiting for servers ends when it is cancelled', async () => {
    const registry = bench().open([stdioServer('silent', { mute: true })])
    const abort = new AbortController()
    const ready = registry.ready(60_000, abort.signal)
    abort.abort()
    expect((await ready).servers[0]?.state).toBe('connecting')
  })

  test.concurrent('a silent server fails in the end, and its process is gone', async () => {
    const made = bench({ limits: { probeMs: 50, silenceMs: 50, connectMs: 50, graceMs: 50 } })
    const registry = made.open([stdioServer('silent', { mute: true, stubborn: true })])
    const list = await readied(registry)
    expect(list.servers[0]).toMatchObject({
      state: 'failed',
      reason: 'Could not connect to MCP server silent: it did not answer in time.',
    })
    // A process that is killed is gone when the kernel has let go of it.
    await until(() => carrying(made.marker).length === 0)
  })

  test.concurrent('a server that ends at once is reported with its stderr, without its secrets', async () => {
    const server = {
      ...stdioServer('broken', {}, { TOKEN: 'sentinel-secret' }),
      args: ['-e', 'console.error("no", process.env.TOKEN); process.exit(4)'],
    }
    const list = await readied(bench().open([server]))
    expect(list.servers[0]?.reason).toBe(
      'Could not connect to MCP server broken: it ended with exit code 4: no [hidden].',
    )
  })

  test.concurrent('closing ends servers that ignore it and their processes, also while they connect', async () => {
    const made = bench({ limits: { graceMs: 50 } })
    const ready = made.open([stdioServer('stubborn', { stubborn: true })])
    await readied(ready)
    const connecting = made.open([stdioServer('silent', { mute: true, stubborn: true })])
    await Promise.all([ready.close(), connecting.close(), ready.close()])
    expect(carrying(made.marker)).toEqual([])
    expect(ready.list().servers[0]?.state).toBe('closed')
    await expect(ready.call('stubborn__echo', { text: '' }, withoutSignal())).rejects.toMatchObject({
      code: 'TOOL_NOT_RUN',
    })
  })
})

describe('the list', () => {
  test.concurrent('malformed tools are left out, and a notice names them', async () => {
    const made = bench()
    const registry = made.open([stdioServer('sloppy', { malformed: true })])
    await readied(registry)
    const names = namesOf(registry)
    expect(names.filter((name) => name.includes('usable'))).toEqual([
      'sloppy__usable-empty-schema',
      'sloppy__usable-description',
      'sloppy__usable-annotations',
      'sloppy__usable-icons',
    ])
    expect(names.filter((name) => name === 'sloppy__echo')).toHaveLength(1)
    expect(names).toHaveLength(13)
    expect(made.warnings).toHaveLength(8)
    expect(made.warnings).toContain(
      'MCP server sloppy: tool "no-schema" was left out: its inputSchema does not describe an object.',
    )
  })

  test.concurrent('two servers of one name, and names of every shape, get unique names, and are called by their own', async () => {
    const odd = ['get user', 'get/user', '搜索', 'x'.repeat(100)].map((name) => ({
      name,
      inputSchema: { type: 'object' },
    }))
    const registry = bench().open([stdioServer('docs', { tools: odd }), stdioServer('docs', { tools: odd })])
    await readied(registry)
    const names = namesOf(registry)
    expect(new Set(names).size).toBe(26)
    for (const tool of registry
      .list()
      .tools.filter(({ serverToolName }) => odd.some(({ name }) => name === serverToolName))) {
      expect(await registry.call(tool.name, {}, withoutSignal())).toMatchObject({
        content: [{ text: tool.serverToolName }],
      })
    }
    expect(registry.list().servers.map((server) => server.name)).toEqual(['docs', 'docs 2'])
  })

  test.concurrent('forty changes in 0.1 s cause few listings, and the last change is not lost', async () => {
    const log = messageLog()
    const registry = bench().open([stdioServer('stormy', { log: log.path })])
    const before = await readied(registry)
    const after = changeTo(registry, (list) => list.tools.some((tool) => tool.serverToolName === 'generation_40'))
    await registry.call('stormy__storm', { times: 40 }, withoutSignal())
    expect((await after).version).toBeGreaterThan(before.version)
    // Few even where the storm takes longer than it should.
    expect(log.methods().filter((method) => method === 'tools/list').length).toBeLessThanOrEqual(10)
    expect(before.tools.some((tool) => tool.serverToolName === 'generation_0')).toBe(true)
  })

  test.concurrent('its version grows by one with every change', async () => {
    const registry = bench().open([stdioServer('docs')])
    const versions: number[] = [registry.list().version]
    registry.onChange((list) => versions.push(list.version))
    await readied(registry)
    await registry.close()
    expect(versions).toEqual(versions.map((_, index) => (versions[0] ?? 0) + index))
  })
})

describe('a call', () => {
  async function one(env: Readonly<Record<string, string>> = {}, options: Readonly<Record<string, unknown>> = {}) {
    const made = bench()
    const registry = made.open([stdioServer('s', options, env)])
    await readied(registry)
    return { registry, warnings: made.warnings }
  }

  test.concurrent('of an unknown tool fails', async () => {
    const { registry } = await one()
    await expect(registry.call('s__nothing', {}, withoutSignal())).rejects.toMatchObject({ code: 'TOOL_UNKNOWN' })
    await expect(registry.call('nothing', {}, withoutSignal())).rejects.toMatchObject({ code: 'TOOL_UNKNOWN' })
  })

  test.concurrent('waits for a server that is still connecting', async () => {
    const registry = bench().open([stdioServer('s', { slowMs: 300 })])
    expect(await registry.call('s__echo', { text: 'early' }, withoutSignal())).toMatchObject({
      content: [{ text: 'early' }],
    })
  })

  test.concurrent('with wrong arguments is refused before it is sent', async () => {
    const log = messageLog()
    const { registry } = await one({}, { log: log.path })
    const refused = registry.call('s__echo', { text: 5 }, withoutSignal())
    await expect(refused).rejects.toThrow(
      'The arguments of tool s__echo are invalid: they/text must be string. It was not called.',
    )
    await expect(registry.call('s__echo', undefined, withoutSignal())).rejects.toMatchObject({ code: 'TOOL_ARGUMENTS' })
    await expect(registry.call('s__echo', 'text', withoutSignal())).rejects.toMatchObject({ code: 'TOOL_ARGUMENTS' })
    expect(log.methods()).not.toContain('tools/call')
  })

  test.concurrent('whose schema contradicts itself is sent, with one warning', async () => {
    const { registry, warnings } = await one()
    for (const page of [1, '2']) {
      expect(await registry.call('s__search', { page }, withoutSignal())).toMatchObject({
        content: [{ text: JSON.stringify({ page }) }],
      })
    }
    expect(warnings).toEqual([
      expect.stringMatching(
        /^MCP server s: the inputSchema of tool search is wrong .*properties\/page wants type "number"/,
      ),
    ])
    await expect(registry.call('s__search', {}, withoutSignal())).rejects.toMatchObject({ code: 'TOOL_ARGUMENTS' })
  })

  test.concurrent('that is cancelled is cancelled at the server within 0.1 s [P3]', async () => {
    const log = messageLog()
    const { registry } = await one({}, { log: log.path })
    const heard = (method: string) => log.read().filter((message) => message.method === method)
    let quickest = Infinity
    // A busy machine takes its time now and then, but not always.
    for (let round = 1; round <= 20 && quickest >= 100; round += 1) {
      const abort = new AbortController()
      const call = registry.call('s__think', { ms: 60_000 }, withoutSignal({ signal: abort.signal }))
      const ended = call.catch((error: unknown) => error)
      await until(() => heard('tools/call').length === round)
      const at = Date.now()
      abort.abort()
      expect(await ended).toMatchObject({ code: 'TOOL_CANCELLED' })
      await until(() => heard('notifications/cancelled').length === round)
      const told = heard('notifications/cancelled').at(-1)
      expect(told?.params?.requestId).toBe(heard('tools/call').at(-1)?.id)
      quickest = Math.min(quickest, (told?.at ?? Infinity) - at)
    }
    expect(quickest).toBeLessThan(100)
  })

  test.concurrent('that was cancelled before is not sent', async () => {
    const { registry } = await one()
    const call = registry.call('s__echo', { text: '' }, { signal: AbortSignal.abort() })
    await expect(call).rejects.toMatchObject({ code: 'TOOL_NOT_RUN' })
  })

  test.concurrent('without an answer before its timeout is cancelled at the server and fails', async () => {
    const log = messageLog()
    const { registry } = await one({}, { log: log.path })
    const call = registry.call('s__think', { ms: 60_000 }, withoutSignal({ timeoutMs: 100 }))
    await expect(call).rejects.toThrow('Tool s__think did not answer within 100 ms')
    await until(() => log.methods().includes('notifications/cancelled'))
  })

  test.concurrent('has its timeout restarted by each progress notification', async () => {
    const { registry } = await one()
    const seen: (string | undefined)[] = []
    const options = withoutSignal({ timeoutMs: 400, onProgress: (progress) => seen.push(progress.message) })
    expect(await registry.call('s__think', { ms: 1000, every: 100 }, options)).toMatchObject({
      content: [{ text: 'thought for 1000' }],
    })
    expect(seen.length).toBeGreaterThan(4)
    expect(seen[0]).toBe('still')
  })

  test.concurrent('that reports progress for ever ends anyway', async () => {
    const registry = bench({ limits: { callTotalMs: 300 } }).open([stdioServer('s')])
    await readied(registry)
    await expect(registry.call('s__think', { ms: 60_000, every: 20 }, withoutSignal())).rejects.toMatchObject({
      code: 'TOOL_TIMEOUT',
    })
  })

  test.concurrent('that its server refuses returns the refusal, without secrets', async () => {
    const { registry } = await one({ TOKEN: 'sentinel-secret' })
    const result = await registry.call('s__refuse', {}, withoutSignal())
    expect(result).toEqual({
      content: [{ type: 'text', text: expect.stringContaining('not with [hidden]') }],
      isError: true,
    })
  })

  test.concurrent('returns structured content, also when it does not match the output schema', async () => {
    const { registry } = await one()
    expect(await registry.call('s__answer', {}, withoutSignal())).toEqual({
      content: [{ type: 'text', text: '{"n":42}' }],
      structured: { n: 42 },
      isError: false,
    })
    const odd = await one({}, { answer: { content: [{ type: 'text', text: 'it ran' }], structuredContent: [1] } })
    expect(await odd.registry.call('s__answer', {}, withoutSignal())).toMatchObject({
      content: [{ text: 'it ran' }],
      structured: [1],
      isError: false,
    })
    expect(odd.warnings).toEqual(['MCP server s: a result of tool answer does not fit its outputSchema.'])
  })

  test.concurrent('whose server dies fails and is not repeated; the server is started again when it is needed', async () => {
    const { registry } = await one({ TOKEN: 'sentinel-secret' })
    await expect(registry.call('s__die', {}, withoutSignal())).rejects.toThrow(
      /^The result of tool s__die was lost: it ended with exit code 3: token is \[hidden\]. It may have run.$/,
    )
    await until(() => registry.list().servers[0]?.state === 'failed')
    expect(registry.list()).toMatchObject({
      tools: [],
      servers: [{ reason: expect.stringContaining('MCP server s was lost: it ended with exit code 3') }],
    })
    expect(await registry.call('s__echo', { text: 'again' }, withoutSignal())).toMatchObject({
      content: [{ text: 'again' }],
    })
    expect((await readied(registry)).servers[0]?.state).toBe('ready')
  })

  test.concurrent('reaches a server that has its own variables and none of Parley’s secrets', async () => {
    process.env.PARLEY_TEST_KEY = 'sentinel-secret'
    const { registry } = await one({ TOKEN: 'for-the-server' })
    const { content } = await registry.call('s__env', {}, withoutSignal())
    delete process.env.PARLEY_TEST_KEY
    expect(content[0]).toMatchObject({ text: expect.stringContaining('"TOKEN":"for-the-server"') })
    expect(JSON.stringify(content)).not.toContain('sentinel')
    expect(JSON.stringify(content)).toContain(String.raw`\"cwd\":\"/\"`)
  })
})
