/** What every tool registry promises, whatever its servers speak. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ToolCallOptions, ToolRegistry } from '../../src/ports/tools.ts'

/** A session with one server that is still to be connected. */
export interface ToolsUnderTest {
  readonly registry: ToolRegistry
  /** Another registry of the same session with the same server. */
  again(): ToolRegistry
  /** The registry name of a tool that needs `{text: string}` and answers with the text. */
  readonly say: string
  /** The registry name of a tool that takes nothing and does not answer within a minute. */
  readonly slow: string
  close(): Promise<void>
}

const never = new AbortController().signal
const calmly: ToolCallOptions = { signal: never }

export function toolsContract(start: () => Promise<ToolsUnderTest>): void {
  let tools: ToolsUnderTest
  let registry: ToolRegistry
  beforeEach(async () => {
    tools = await start()
    registry = tools.registry
  })
  afterEach(() => tools.close())

  describe('the list', () => {
    test('is there at once, and complete when its servers are ready', async () => {
      const first = registry.list()
      expect(first.tools).toEqual([])
      expect(first.servers.map((server) => server.state)).toEqual(['connecting'])
      const list = await registry.ready(60_000, never)
      expect(list.servers.map((server) => server.state)).toEqual(['ready'])
      expect(list.tools.map((tool) => tool.name)).toEqual(expect.arrayContaining([tools.say, tools.slow]))
      expect(list.servers[0]?.tools).toBe(list.tools.length)
      expect(registry.list()).toBe(list)
    })

    test('is a picture: an older one stays as it was', async () => {
      const first = registry.list()
      const list = await registry.ready(60_000, never)
      expect(first.tools).toEqual([])
      expect(list.version).toBeGreaterThan(first.version)
      expect(Object.isFrozen(list) && Object.isFrozen(list.tools) && Object.isFrozen(list.servers)).toBe(true)
    })

    test('is sent to every listener, with versions that grow by one, until it stops', async () => {
      const versions = [registry.list().version]
      const stop = registry.onChange((list) => versions.push(list.version))
      const list = await registry.ready(60_000, never)
      expect(versions.at(-1)).toBe(list.version)
      expect(versions).toEqual(versions.map((_, index) => (versions[0] ?? 0) + index))
      stop()
      const later = [list.version]
      registry.onChange(({ version }) => later.push(version))
      await registry.close()
      expect(versions.at(-1)).toBe(list.version)
      expect(later).toEqual(later.map((_, index) => list.version + index))
    })
  })

  describe('waiting until it is ready', () => {
    test('ends with the limit and with the wish for it, and never throws', async () => {
      expect((await registry.ready(0, never)).servers[0]?.state).toBe('connecting')
      expect((await registry.ready(60_000, AbortSignal.abort())).servers[0]?.state).toBe('connecting')
    })
  })

  describe('a call', () => {
    test('reaches its tool, also before the list was complete', async () => {
      const result = await registry.call(tools.say, { text: '你好' }, calmly)
      expect(result).toMatchObject({ content: [{ type: 'text', text: '你好' }], isError: false })
    })

    test('of a tool that is not there, or with wrong arguments, is refused', async () => {
      await registry.ready(60_000, never)
      await expect(registry.call(`${tools.say}_not`, {}, calmly)).rejects.toMatchObject({ code: 'TOOL_UNKNOWN' })
      await expect(registry.call(tools.say, { text: 1 }, calmly)).rejects.toMatchObject({ code: 'TOOL_ARGUMENTS' })
      await expect(registry.call(tools.say, [], calmly)).rejects.toMatchObject({ code: 'TOOL_ARGUMENTS' })
    })

    test('ends when it is cancelled and when its time is over, and others go on', async () => {
      await registry.ready(60_000, never)
      const abort = new AbortController()
      const cancelled = registry.call(tools.slow, {}, { signal: abort.signal }).catch((error: unknown) => error)
      const late = registry.call(tools.slow, {}, { signal: never, timeoutMs: 50 }).catch((error: unknown) => error)
      expect(await registry.call(tools.say, { text: 'meanwhile' }, calmly)).toMatchObject({ isError: false })
      abort.abort()
      expect(await cancelled).toMatchObject({ code: 'TOOL_CANCELLED' })
      expect(await late).toMatchObject({ code: 'TOOL_TIMEOUT' })
    })
  })

  describe('sharing', () => {
    test('a second registry of the session has the tools at once, and outlives the first with its calls', async () => {
      const before = await registry.ready(60_000, never)
      const again = tools.again()
      expect(again.list()).toMatchObject({ tools: before.tools, servers: before.servers })
      const [lost, abort] = [
        registry.call(tools.slow, {}, calmly).catch((error: unknown) => error),
        new AbortController(),
      ]
      const kept = again.call(tools.slow, {}, { signal: abort.signal }).catch((error: unknown) => error)
      await registry.call(tools.say, { text: 'sent after them' }, calmly)
      await registry.close()
      expect(await lost).toMatchObject({ code: 'TOOL_LOST' })
      expect(registry.list().servers[0]?.state).toBe('closed')
      expect(await again.call(tools.say, { text: 'still here' }, calmly)).toMatchObject({ isError: false })
      abort.abort()
      expect(await kept).toMatchObject({ code: 'TOOL_CANCELLED' })
    })

    test('one that retires takes no more calls and closes after the last', async () => {
      await registry.ready(60_000, never)
      const abort = new AbortController()
      const open = registry.call(tools.slow, {}, { signal: abort.signal }).catch((error: unknown) => error)
      await registry.call(tools.say, { text: 'sent after it' }, calmly)
      const retired = registry.drain()
      await expect(registry.call(tools.say, { text: '' }, calmly)).rejects.toMatchObject({ code: 'TOOL_NOT_RUN' })
      expect(registry.list().servers[0]?.state).toBe('ready')
      abort.abort()
      expect(await open).toMatchObject({ code: 'TOOL_CANCELLED' })
      await retired
      expect(registry.list().servers[0]?.state).toBe('closed')
    })
  })

  describe('closing', () => {
    test('ends open calls, refuses new ones, and may be asked twice', async () => {
      await registry.ready(60_000, never)
      const open = registry.call(tools.slow, {}, calmly).catch((error: unknown) => error)
      await registry.call(tools.say, { text: 'sent after it' }, calmly)
      await Promise.all([registry.close(), registry.close()])
      expect(await open).toMatchObject({ code: 'TOOL_LOST' })
      await expect(registry.call(tools.say, { text: '' }, calmly)).rejects.toMatchObject({ code: 'TOOL_NOT_RUN' })
      expect(registry.list()).toMatchObject({ tools: [], servers: [{ state: 'closed' }] })
    })

    test('also ends a server that is still connecting', async () => {
      await registry.close()
      expect(registry.list().servers[0]?.state).toBe('closed')
    })
  })
}
