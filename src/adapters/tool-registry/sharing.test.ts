import { describe, expect, test } from 'vitest'
import { messageLog, namesOf, openBench, type Bench } from '../../../test/fixtures/mcp/servers.ts'
import { stdioServer, withoutSignal } from '../../../test/fixtures/mcp/servers.ts'
import { startHttpServer } from '../../../test/fixtures/mcp/http-server.ts'
import { scriptedStdio } from '../../../test/fixtures/mcp/torture.ts'
import { PerTest } from '../../../test/fixtures/process/per-test.ts'
import { runs, until } from '../../../test/fixtures/process/running.ts'
import type { ElicitationAnswer } from '../../ports/values/elicitation.ts'
import type { ToolCallContext, ToolRegistry } from '../../ports/tools.ts'
import type { ToolHostOptions } from './host.ts'
import type { ServerRules } from '../../ports/values/mcp-server-settings.ts'

const benches = new PerTest<Bench>(async (opened) => {
  await Promise.all(opened.map((bench) => bench.close()))
})
benches.closeAfterEach()

function bench(graceMs = 100): Bench {
  const made = openBench({ limits: { graceMs } })
  benches.add(made)
  return made
}

const signal = new AbortController().signal

async function pidOf(registry: ToolRegistry, server: string): Promise<number> {
  const { content } = await registry.call(`${server}__env`, {}, withoutSignal())
  return (JSON.parse(content[0]?.type === 'text' ? content[0].text : '{}') as { pid: number }).pid
}

describe('registries of one session', () => {
  test.concurrent('share a server with the same declaration, and adding one starts only that', async () => {
    const made = bench()
    const first = made.open([stdioServer('a')], 'one')
    const pid = await pidOf(first, 'a')
    const second = made.open([stdioServer('a'), stdioServer('b')], 'one')
    await first.drain()
    expect((await second.ready(60_000, signal)).servers.map(({ state }) => state)).toEqual(['ready', 'ready'])
    expect(await pidOf(second, 'a')).toBe(pid)
    expect(await pidOf(second, 'b')).not.toBe(pid)
    await second.close()
    expect(runs(pid)).toBe(false)
  })

  test.concurrent('the order of variables makes no difference; another value, directory or session does [Z7]', async () => {
    const made = bench()
    const opened = (env: Readonly<Record<string, string>>, session = 'one', cwd = '/') =>
      pidOf(made.open([stdioServer('a', {}, env)], session, cwd), 'a')
    const pid = await opened({ X: '1', Y: '2' })
    expect(await opened({ Y: '2', X: '1' })).toBe(pid)
    expect(await opened({ X: '1', Y: '3' })).not.toBe(pid)
    expect(await opened({ X: '1', Y: '2' }, 'two')).not.toBe(pid)
    expect(await opened({ X: '1', Y: '2' }, 'one', '/tmp')).not.toBe(pid)
  })

  test.concurrent('a server that is declared anew is replaced alone, and its open calls are still answered', async () => {
    const made = bench()
    const before = made.open([stdioServer('a'), stdioServer('b')], 'one')
    const [a, b] = [await pidOf(before, 'a'), await pidOf(before, 'b')]
    const open = before.call('b__think', { ms: 500 }, withoutSignal())
    const after = made.open([stdioServer('a'), stdioServer('b', { tools: [{ name: 'new', inputSchema: {} }] })], 'one')
    const retired = before.drain()
    expect(await pidOf(after, 'a')).toBe(a)
    expect(await pidOf(after, 'b')).not.toBe(b)
    expect(namesOf(after)).toContain('b__new')
    expect(await open).toMatchObject({ content: [{ text: 'thought for 500' }] })
    await retired
    expect(runs(a)).toBe(true)
    expect(runs(b)).toBe(false)
  })

  test.concurrent('a server that is needed again while it ends is started after its end', async () => {
    const made = bench(300)
    const first = made.open([stdioServer('a', { stubborn: true })], 'one')
    const pid = await pidOf(first, 'a')
    const closing = first.close()
    const second = made.open([stdioServer('a', { stubborn: true })], 'one')
    const next = await pidOf(second, 'a')
    expect(next).not.toBe(pid)
    expect(runs(pid)).toBe(false)
    await closing
    expect(runs(next)).toBe(true)
  })

  test.concurrent('each get its changes, also after the other has closed', async () => {
    const made = bench()
    const [first, second] = [made.open([stdioServer('a')], 'one'), made.open([stdioServer('a')], 'one')]
    await Promise.all([first.ready(60_000, signal), second.ready(60_000, signal)])
    expect(first.list().tools).toEqual(second.list().tools)
    await first.close()
    const heard = new Promise((resolve) => second.onChange(resolve))
    await second.call('a__storm', { times: 1 }, withoutSignal())
    await heard
    expect(first.list()).toMatchObject({ tools: [], servers: [{ state: 'closed' }] })
  })
})

describe('registries of several sessions', () => {
  const shared = (rules: ServerRules): Partial<ToolHostOptions> => ({
    configured: () => ['a', 's'].map((name) => ({ name, rules })),
  })

  function wide(options: Partial<ToolHostOptions>, idleMs = 0): Bench {
    const made = openBench({ ...options, limits: { graceMs: 100, idleMs } })
    benches.add(made)
    return made
  }

  test.concurrent('have a process each, unless the configuration shares it, and then only for the same directories [N8]', async () => {
    const apart = wide({})
    expect(await pidOf(apart.open([stdioServer('a')]), 'a')).not.toBe(await pidOf(apart.open([stdioServer('a')]), 'a'))
    const together = wide(shared({ shared: true }))
    const [one, two] = [together.open([stdioServer('a')]), together.open([stdioServer('a')])]
    const pid = await pidOf(one, 'a')
    expect(await pidOf(two, 'a')).toBe(pid)
    expect(await pidOf(together.open([stdioServer('a')], 'three', '/tmp'), 'a')).not.toBe(pid)
    expect(await pidOf(together.open([stdioServer('a', {}, { OTHER: '1' })]), 'a')).not.toBe(pid)
    await one.close()
    expect(await pidOf(two, 'a')).toBe(pid)
    await two.close()
    expect(runs(pid)).toBe(false)
  })

  test.concurrent('reuse a shared process that the last one left, until its idle timeout or the end of the host', async () => {
    const made = wide(shared({ shared: true, idleMs: 60_000 }))
    const first = made.open([stdioServer('a')])
    const pid = await pidOf(first, 'a')
    await first.close()
    expect(runs(pid)).toBe(true)
    const second = made.open([stdioServer('a')])
    expect(await pidOf(second, 'a')).toBe(pid)
    await second.close()
    await made.close()
    expect(runs(pid)).toBe(false)
    const brief = wide(shared({ shared: true, idleMs: 20 }))
    const third = brief.open([stdioServer('a')])
    const next = await pidOf(third, 'a')
    await third.close()
    await until(() => !runs(next))
  })

  test.concurrent('get no elicitation of a shared server while both call it, for it does not name the call', async () => {
    const made = wide({ ...shared({ shared: true }), elicitation: true })
    const server = { ...scriptedStdio('asks the person', messageLog().path), name: 's' }
    const [one, two] = [made.open([server]), made.open([server])]
    const call = async (registry: ToolRegistry, sessionId: string, thinking: Promise<void>) => {
      const onElicit = async (): Promise<ElicitationAnswer> => {
        begin()
        await thinking
        return { action: 'accept', content: {} }
      }
      const caller = { sessionId } as ToolCallContext
      const { content } = await registry.call('s__do', {}, withoutSignal({ caller, onElicit }))
      return JSON.parse(content[0]?.type === 'text' ? content[0].text : '') as unknown
    }
    let begin = (): void => undefined
    let finish = (): void => undefined
    const asked = new Promise<void>((resolve) => (begin = resolve))
    const slow = call(one, 'one', new Promise((resolve) => (finish = resolve)))
    await asked
    expect(await call(two, 'two', Promise.resolve())).toEqual({ action: 'cancel' })
    finish()
    expect(await slow).toMatchObject({ action: 'accept' })
  })

  test.concurrent('share a connection over HTTP to the same server with the same headers, unless the configuration says no', async () => {
    const server = await startHttpServer()
    const made = wide({}, 60_000)
    const alone = wide({ configured: () => [{ name: 'web', rules: { shared: false } }] })
    try {
      const web = (key: string) => ({ type: 'http', name: 'web', url: server.url, headers: [['x-key', key]] }) as const
      const open = async (key: string) => {
        const registry = made.open([web(key)])
        await registry.ready(60_000, signal)
        return registry
      }
      const greetings = () => server.count('initialize')
      const first = await open('one')
      await open('one')
      expect(greetings()).toBe(1)
      await open('other')
      expect(greetings()).toBe(2)
      await first.close()
      const said = await (await open('one')).call('web__say', { text: 'hi' }, withoutSignal())
      expect(said).toMatchObject({ isError: false })
      expect(greetings()).toBe(2)
      await Promise.all([alone.open([web('one')]), alone.open([web('one')])].map((one) => one.ready(60_000, signal)))
      expect(greetings()).toBe(4)
    } finally {
      await Promise.all([made, alone].map((one) => one.close()))
      expect(server.count('DELETE')).toBe(4)
      await server.close()
    }
  })
})
