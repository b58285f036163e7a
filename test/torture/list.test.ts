/** Servers that list badly, too often or too much, and the one list that comes of it. */
import { describe, expect, test } from 'vitest'
import type { ToolList } from '../../src/ports/tools.ts'
import { eventually } from '../fixtures/process/eventually.ts'
import { changeTo, never, originals, playHosted, ruled, wordsOf, type Case } from '../fixtures/mcp/torture.ts'

function listings(methods: readonly (string | undefined)[]): number {
  return methods.filter((method) => method === 'tools/list').length
}

const definitions: readonly Case[] = [
  {
    row: 'T9 G6 J3 K1 N9 G17',
    does: 'has malformed tools among good ones',
    async check({ ready, call, bench }) {
      expect((await ready()).servers).toMatchObject([{ state: 'ready', tools: 2 }])
      expect(originals(await ready())).toEqual(['say', 'do'])
      expect(wordsOf(await call())).toBe('done')
      expect(bench.warnings).toHaveLength(10)
      expect(bench.warnings.join()).toContain('tool "task" was left out: it can only be called as a task')
    },
  },
  {
    row: 'T1',
    does: 'pages by empty cursors',
    check: async ({ ready }) => expect(originals(await ready())).toEqual(['say', 'do']),
  },
  {
    row: 'T1',
    does: 'pages without end',
    async check({ ready, bench }) {
      expect((await ready()).tools.length).toBeGreaterThan(50)
      expect(bench.warnings.join()).toContain('is endless')
    },
  },
  {
    row: 'T7 T8 G16',
    does: 'has odd names',
    async check({ ready, registry }) {
      const { tools } = await ready()
      expect(new Set(tools.map((tool) => tool.name)).size).toBe(9)
      for (const tool of tools) {
        expect(tool.name).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
        expect(wordsOf(await registry.call(tool.name, {}, { signal: never }))).toBe(tool.serverToolName)
      }
    },
  },
  {
    row: 'T7 N7',
    does: 'has odd names',
    async check({ ready, bench, server }) {
      const alone = (await ready()).tools.map((tool) => tool.name)
      const other = { ...server, name: 'other' }
      const both = await bench.open([other, server]).ready(20_000, never)
      expect(both.tools.filter((tool) => tool.server === 's').map((tool) => tool.name)).toEqual(alone)
    },
  },
  {
    row: 'T7',
    does: 'has one name twice',
    async check({ ready, bench }) {
      expect((await ready()).tools.map((tool) => tool.title)).toEqual(['first'])
      expect(bench.warnings.join()).toContain('tool "do" is listed twice; the first counts')
    },
  },
  {
    row: 'P (include, exclude) T11',
    does: 'has odd names',
    options: ruled({ include: ['get*', 'a__b'], exclude: ['*/*'] }),
    async check({ ready, failure }) {
      expect(originals(await ready())).toEqual(['get user', 'get_user', 'a__b'])
      expect(await failure('get/user')).toBe('TOOL_UNKNOWN')
    },
  },
  {
    row: 'Z9',
    does: 'changes what a tool says of itself',
    async check({ ready, call, registry }) {
      const [before] = (await ready()).tools
      await call()
      const { tools } = await changeTo(registry, (list) => list.tools[0]?.description === 'deletes a file')
      expect(tools[0]?.name).toBe(before?.name)
      expect(tools[0]?.definitionHash).not.toBe(before?.definitionHash)
    },
  },
]

const changes: readonly Case[] = [
  {
    row: 'T2 G5',
    does: 'changes in a storm',
    async check({ ready, call, registry, log }) {
      await ready()
      await call()
      await changeTo(registry, (list) => originals(list).includes('v40'))
      const times = log.read().flatMap(({ at, method }) => (method === 'tools/list' ? [at] : []))
      // At first, at once, and then after each pause: a slow machine draws the storm out, and allows no more in each half second.
      const pauses = Math.floor(((times.at(-1) ?? 0) - (times[1] ?? 0)) / 500)
      expect(times.length).toBeLessThanOrEqual(3 + pauses)
    },
  },
  {
    row: 'T2 G5',
    does: 'changes for a second',
    options: { limits: { listPauseMs: 125 } },
    async check({ ready, call, registry, log }) {
      await ready()
      const seen: number[] = []
      registry.onChange((list) => seen.push(Number(originals(list).at(-1)?.slice(1))))
      await call()
      await changeTo(registry, (list) => originals(list).includes('v40'))
      expect(seen.filter((version) => version > 0 && version < 40).length).toBeGreaterThan(2)
      expect(listings(log.methods())).toBeLessThanOrEqual(20)
    },
  },
  {
    row: 'T2',
    does: 'says after each list that it changed',
    options: { limits: { listPauseMs: 20, idleListPauseMs: 10_000 } },
    async check({ ready, log }) {
      await ready()
      await new Promise((resolve) => setTimeout(resolve, 1000))
      // 20, 40, 80, 160, 320, 640 …: without growing pauses there would be fifty.
      expect(listings(log.methods())).toBeLessThanOrEqual(12)
    },
  },
  {
    row: 'T2',
    does: 'changes while it is first listed',
    async check({ registry }) {
      await changeTo(registry, (list) => originals(list).includes('v1'))
    },
  },
  {
    row: 'T4 G3',
    does: 'changes without a word',
    options: { limits: { staleMs: 50 } },
    async check({ ready, registry, log }) {
      expect(originals(await ready())).toEqual(['v0'])
      // Nobody asks while nobody uses it; whoever does sees the new list a moment later.
      await new Promise((resolve) => setTimeout(resolve, 300))
      expect(listings(log.methods())).toBe(1)
      await ready()
      await changeTo(registry, (list) => originals(list).includes('v1') && list.prompts[0]?.serverPromptName === 'p2')
    },
  },
  ...['honest', 'says that its list holds for an hour'].map((does) => ({
    row: 'T4 (not asked again)',
    does,
    options: { limits: { staleMs: 10, probeMs: 10_000 } },
    async check({ ready, call, log }: Parameters<Case['check']>[0]) {
      await ready()
      for (let round = 0; round < 3; round++) {
        await call('say', { text: 'a moment' })
        await new Promise((resolve) => setTimeout(resolve, 20))
        await ready()
      }
      await call('say', { text: 'last' })
      expect(listings(log.methods())).toBe(1)
    },
  })),
  {
    row: 'T2',
    does: 'fails to list again',
    async check({ ready, call, bench }) {
      await ready()
      await call()
      expect(wordsOf(await call('say', { text: 'still' }))).toBe('changed')
      await eventually(() => expect(bench.warnings.join()).toContain('its tools could not be listed again: '))
    },
  },
]

const isChanged = ({ changed }: ToolList['resources'][number]): boolean => changed === true

const more: readonly Case[] = [
  {
    row: 'X1 X7 B5 C8 X2 X6',
    does: 'has resources and prompts',
    async check({ ready, registry, call }) {
      await ready()
      const list = await changeTo(registry, ({ prompts, resources }) => prompts.length > 0 && resources.length > 0)
      expect(list.resources).toEqual([{ server: 's', uri: 'test://one', title: 'one', description: '', size: 3 }])
      expect(list.templates).toMatchObject([{ uriTemplate: 'test://{id}' }])
      expect(list.prompts).toMatchObject([{ name: 's__review', arguments: [{ name: 'file', required: true }] }])
      const options = { signal: never }
      expect(await registry.read('s', 'test://unlisted', options)).toEqual([{ uri: 'test://unlisted', text: 'words' }])
      await expect(registry.read('s', 'test://gone', options)).rejects.toMatchObject({ code: 'MCP_REQUEST' })
      await expect(registry.read('t', 'test://one', options)).rejects.toThrow('there is no such server')
      expect(await registry.prompt('s__review', { file: 'a.ts' }, options)).toMatchObject([
        { role: 'user', content: { text: 'a.ts' } },
        { role: 'assistant', content: { type: 'text' } },
      ])
      await expect(registry.prompt('s__none', {}, options)).rejects.toMatchObject({ code: 'MCP_REQUEST' })
      const wish = { of: { prompt: 'review' }, argument: 'file', value: 'v' }
      expect(await registry.complete('s', wish, options)).toHaveLength(90)
      await call()
      await changeTo(registry, ({ resources }) => resources.length === 2)
    },
  },
  {
    row: 'X1',
    does: 'pages its resources by empty cursors',
    async check({ registry }) {
      const { resources } = await changeTo(registry, (list) => list.resources.length > 0)
      expect(resources.map(({ uri }) => uri)).toEqual(['test://one', 'test://two', 'test://three'])
    },
  },
  {
    row: 'X3',
    does: 'tells of resources that were read',
    async check({ ready, registry, call, log }) {
      await ready()
      const before = await changeTo(registry, ({ resources }) => resources.length === 2)
      const read = (uri: string) => registry.read('s', uri, { signal: never })
      const asked = (method: string) => log.read().filter((message) => message.method === method)
      await Promise.all([read('test://one'), read('test://unlisted'), read('test://one')])
      await expect(read('test://gone')).rejects.toMatchObject({ code: 'MCP_REQUEST' })
      await eventually(() => expect(asked('resources/unsubscribe')).toHaveLength(1))
      await call()
      const after = await changeTo(registry, ({ resources }) => resources.filter(isChanged).length === 2)
      expect(after.version).toBeGreaterThan(before.version)
      expect(after.resources.filter(isChanged).map(({ uri }) => uri)).toEqual(['test://one', 'test://unlisted'])
      await read('test://one')
      await changeTo(registry, ({ resources }) => resources.filter(isChanged).length === 1)
      expect(asked('resources/subscribe').map(({ params }) => params)).toMatchObject(
        ['test://one', 'test://unlisted', 'test://gone'].map((uri) => ({ uri })),
      )
      await registry.close()
      await eventually(() => expect(asked('resources/unsubscribe')).toHaveLength(3))
    },
  },
  {
    row: 'X3 P5',
    does: 'tells those who listen of resources',
    async check({ ready, registry, call, log }) {
      await ready()
      await changeTo(registry, ({ resources }) => resources.length === 1)
      const read = (uri: string) => registry.read('s', uri, { signal: never })
      const listened = () =>
        log.read().flatMap(({ method, params }) => (method === 'subscriptions/listen' ? [params] : []))
      await read('test://one')
      await read('test://two')
      await eventually(() => expect(listened()).toHaveLength(2))
      expect(listened().at(-1)).toMatchObject({
        notifications: { resourceSubscriptions: ['test://one', 'test://two'] },
      })
      await call()
      await changeTo(registry, ({ resources }) => resources.filter(isChanged).length === 2)
      expect(log.methods()).not.toContain('resources/subscribe')
      // The second stream has taken the place of the first, and ends with the session.
      await eventually(() => expect(log.methods().filter((one) => one === 'notifications/cancelled')).toHaveLength(1))
      await registry.close()
      await eventually(() => expect(log.methods().filter((one) => one === 'notifications/cancelled')).toHaveLength(2))
    },
  },
  {
    row: 'X1 L6',
    does: 'lists resources never',
    async check({ ready, call, bench }) {
      expect((await ready()).servers[0]?.state).toBe('ready')
      expect(wordsOf(await call())).toBe('done')
      await eventually(() => expect(bench.warnings.join()).toContain('its prompts could not be listed again'))
    },
  },
]

describe.concurrent.each([
  ['defines', definitions],
  ['changes', changes],
  ['offers more', more],
])('a server %s, and', (_, cases) => {
  for (const one of cases) test(`${one.does} [${one.row}]`, () => playHosted(one))
})
