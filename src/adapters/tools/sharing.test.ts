import { afterEach, describe, expect, test } from 'vitest'
import { namesOf, openBench, stdioServer, withoutSignal, type Bench } from '../../../test/fixtures/mcp/servers.ts'
import { runs } from '../../../test/fixtures/process/running.ts'
import type { ToolRegistry } from '../../ports/tools.ts'

const benches: Bench[] = []
afterEach(async () => {
  await Promise.all(benches.splice(0).map((bench) => bench.close()))
})

function bench(graceMs = 100): Bench {
  const made = openBench({ limits: { graceMs } })
  benches.push(made)
  return made
}

const signal = new AbortController().signal

async function pidOf(registry: ToolRegistry, server: string): Promise<number> {
  const { content } = await registry.call(`${server}__env`, {}, withoutSignal())
  return (JSON.parse(content[0]?.type === 'text' ? content[0].text : '{}') as { pid: number }).pid
}

describe('registries of one session', () => {
  test('share a server that they name alike, and adding one starts only that', async () => {
    const made = bench()
    const first = made.open([stdioServer('a')], 'one')
    const pid = await pidOf(first, 'a')
    const second = made.open([stdioServer('a'), stdioServer('b')], 'one')
    await first.retire()
    expect((await second.ready(20_000, signal)).servers.map(({ state }) => state)).toEqual(['ready', 'ready'])
    expect(await pidOf(second, 'a')).toBe(pid)
    expect(await pidOf(second, 'b')).not.toBe(pid)
    await second.close()
    expect(runs(pid)).toBe(false)
  })

  test('the order of variables makes no difference, another value, directory or session does', async () => {
    const made = bench()
    const pid = await pidOf(made.open([stdioServer('a', {}, { X: '1', Y: '2' })], 'one'), 'a')
    expect(await pidOf(made.open([stdioServer('a', {}, { Y: '2', X: '1' })], 'one'), 'a')).toBe(pid)
    expect(await pidOf(made.open([stdioServer('a', {}, { X: '1', Y: '3' })], 'one'), 'a')).not.toBe(pid)
    expect(await pidOf(made.open([stdioServer('a', {}, { X: '1', Y: '2' })], 'two'), 'a')).not.toBe(pid)
    expect(await pidOf(made.open([stdioServer('a', {}, { X: '1', Y: '2' })], 'one', '/tmp'), 'a')).not.toBe(pid)
  })

  test('a server that is named anew is replaced alone, and what it was asked before it still answers', async () => {
    const made = bench()
    const before = made.open([stdioServer('a'), stdioServer('b')], 'one')
    const [a, b] = [await pidOf(before, 'a'), await pidOf(before, 'b')]
    const open = before.call('b__think', { ms: 500 }, withoutSignal())
    const after = made.open([stdioServer('a'), stdioServer('b', { tools: [{ name: 'new', inputSchema: {} }] })], 'one')
    const retired = before.retire()
    expect(await pidOf(after, 'a')).toBe(a)
    expect(await pidOf(after, 'b')).not.toBe(b)
    expect(namesOf(after)).toContain('b__new')
    expect(await open).toMatchObject({ content: [{ text: 'thought for 500' }] })
    await retired
    expect(runs(a)).toBe(true)
    expect(runs(b)).toBe(false)
  })

  test('a server that is wanted again while it ends is started when it is gone', async () => {
    const made = bench(1500)
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

  test('hear of its changes each, also after the other has left', async () => {
    const made = bench()
    const [first, second] = [made.open([stdioServer('a')], 'one'), made.open([stdioServer('a')], 'one')]
    await Promise.all([first.ready(20_000, signal), second.ready(20_000, signal)])
    expect(first.list().tools).toEqual(second.list().tools)
    await first.close()
    const heard = new Promise((resolve) => second.onChange(resolve))
    await second.call('a__storm', { times: 1 }, withoutSignal())
    await heard
    expect(first.list()).toMatchObject({ tools: [], servers: [{ state: 'closed' }] })
  })
})
