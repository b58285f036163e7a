/** Processes that do everything wrong, and what a session notices of it. */
import { describe, expect, test } from 'vitest'
import { changeTo, never, playStdio, ruled, wordsOf, type Case } from '../fixtures/mcp/torture.ts'
import { eventually } from '../fixtures/process/eventually.ts'
import { carrying, runs, until } from '../fixtures/process/running.ts'

const works: Case['check'] = async ({ ready, call }) => {
  expect((await ready()).servers[0]?.state).toBe('ready')
  expect(wordsOf(await call('say', { text: 'hi' }))).toBe('hi')
}

/** Resources, prompts and changes of both, without a handshake. */
const everything: Case['check'] = async ({ ready, call, registry, log }) => {
  expect(await ready()).toMatchObject({
    servers: [{ state: 'ready', era: 'modern' }],
    resources: [{ uri: 'test://one', title: 'review' }],
    templates: [{ uriTemplate: 'test://{id}' }],
    prompts: [{ name: 's__review' }],
  })
  expect(await registry.read('s', 'test://one', { signal: never })).toEqual([{ uri: 'test://one', text: 'words' }])
  await expect(registry.read('s', 'test://gone', { signal: never })).rejects.toMatchObject({ code: 'MCP_REQUEST' })
  expect(await registry.prompt('s__review', {}, { signal: never })).toMatchObject([{ content: { text: 'Look.' } }])
  await until(() => log.methods().includes('subscriptions/listen'))
  await call()
  await changeTo(registry, ({ prompts, resources }) => {
    return prompts[0]?.name === 's__renamed' && resources[0]?.title === 'renamed'
  })
  expect(log.methods()).not.toContain('initialize')
}

const starting: readonly Case[] = [
  {
    row: 'N3',
    does: 'dies when asked for the newest protocol',
    async check(scene) {
      await works(scene)
      expect(scene.log.methods().filter((method) => method === 'start')).toHaveLength(2)
    },
  },
  { row: 'N3', does: 'is confused by the question and fails everything after it', check: works },
  { row: 'N3', does: 'is confused by the question and lists no tools after it', check: works },
  {
    row: 'N3',
    does: 'answers the question with nonsense',
    async check(scene) {
      await works(scene)
      expect(scene.log.methods().filter((method) => method === 'start')).toHaveLength(1)
    },
  },
  {
    row: 'N3',
    does: 'says nothing to the question',
    async check(scene) {
      await works(scene)
      expect(scene.log.methods().filter((method) => method === 'start')).toHaveLength(1)
    },
  },
  {
    row: 'N5',
    does: 'honest',
    async check({ ready, bench, registry, server, log }) {
      await ready()
      await registry.close()
      const again = bench.open([server])
      expect((await again.ready(20_000, never)).servers[0]?.era).toBe('legacy')
      expect(log.methods().filter((method) => method === 'server/discover')).toHaveLength(1)
    },
  },
  {
    row: 'L3 L7',
    does: 'speaks only 2023-01-01',
    async check({ ready }) {
      const [server] = (await ready()).servers
      expect(server).toMatchObject({ state: 'failed', reason: expect.stringContaining('2023-01-01') })
    },
  },
  {
    row: 'L3',
    does: 'speaks 2024-11-05',
    async check(scene) {
      await works(scene)
      expect(scene.registry.list().servers[0]?.protocol).toBe('2024-11-05')
    },
  },
  { row: 'L3 N7', does: 'greets with malformed words', check: works },
  {
    row: 'N1 T3 P5',
    does: 'speaks only the newest protocol',
    options: { limits: { probeMs: 10_000 } },
    async check({ ready, call, registry, log }) {
      expect((await ready()).servers[0]).toMatchObject({ state: 'ready', era: 'modern', protocol: '2026-07-28' })
      expect(wordsOf(await call('say', { text: '软RAID' }))).toBe('软RAID')
      await until(() => log.methods().includes('subscriptions/listen'))
      await call()
      await changeTo(registry, ({ tools }) => tools.some((tool) => tool.serverToolName === 'new'))
      expect(log.methods()).not.toContain('initialize')
    },
  },
  {
    row: 'N3 N5',
    does: 'is slow to say that it speaks only the newest protocol',
    options: { limits: { probeMs: 100 } },
    async check(scene) {
      await works(scene)
      expect(scene.registry.list().servers[0]?.era).toBe('modern')
    },
  },
  {
    row: 'P6 G14',
    does: 'ends its subscription again and again',
    async check({ ready, registry, log }) {
      await ready()
      await changeTo(registry, ({ tools }) => tools[0]?.serverToolName === 'v4')
      expect(log.methods().filter((method) => method === 'subscriptions/listen')).toHaveLength(4)
    },
  },
  {
    row: 'L1 L2 L4 X1',
    does: 'honest',
    async check(scene) {
      await works(scene)
      const first = ['start', 'server/discover', 'initialize', 'notifications/initialized', 'tools/list']
      expect(scene.log.methods().slice(0, 5)).toEqual(first)
      expect(scene.log.methods()).not.toContain('resources/list')
      expect(scene.log.methods()).not.toContain('prompts/list')
    },
  },
  {
    row: 'L5',
    does: 'greets slowly',
    async check({ registry, log }) {
      await until(() => log.methods().includes('initialize'))
      await registry.close()
      expect(log.methods()).not.toContain('notifications/cancelled')
    },
  },
  {
    row: 'N (configured as modern) N9',
    does: 'says nothing of what it has',
    options: ruled({ protocol: 'modern' }),
    async check(scene) {
      await works(scene)
      expect(scene.registry.list().servers[0]?.era).toBe('modern')
      expect(scene.log.methods()).not.toContain('initialize')
    },
  },
  ...(['auto', 'modern'] as const).map((protocol) => ({
    row: `X1 X3 T3 B5 (${protocol})`,
    does: 'has everything in the newest protocol',
    options: { ...ruled({ protocol }), limits: { probeMs: 10_000 } },
    check: everything,
  })),
  {
    row: 'L4',
    does: 'announces no tools',
    async check({ ready, log }) {
      expect((await ready()).servers[0]).toMatchObject({ state: 'ready', tools: 0 })
      expect(log.methods()).not.toContain('tools/list')
    },
  },
]

const streams: readonly Case[] = [
  { row: 'S9', does: 'writes a banner and junk', check: works },
  { row: 'S2 U9', does: 'complains without end', check: works },
  {
    row: 'S10',
    does: 'answers with a line without end',
    async check({ ready, failure, registry }) {
      await ready()
      expect(await failure()).toBe('TOOL_LOST')
      await changeTo(registry, ({ servers }) => servers[0]?.state === 'ready')
    },
  },
  {
    row: 'S1',
    does: 'splits its characters',
    check: async ({ ready, call }) => {
      await ready()
      expect(wordsOf(await call())).toBe('软RAID')
    },
  },
  {
    row: 'B1',
    does: 'answers with ids of another type',
    check: async ({ ready, call }) => {
      await ready()
      expect(wordsOf(await call('do', {}, { timeoutMs: 5000 }))).toBe('as a string')
    },
  },
  {
    row: 'B1',
    does: 'answers what nobody asked, and twice',
    check: async ({ ready, call }) => {
      await ready()
      expect([wordsOf(await call()), wordsOf(await call())]).toEqual(['first', 'first'])
    },
  },
  {
    row: 'B1 B2 B4 B6 S1',
    does: 'honest',
    async check({ ready, call, log }) {
      await ready()
      for (let round = 0; round < 20; round++)
        await Promise.all(Array.from({ length: 50 }, (_, n) => call('say', { text: `${n}` })))
      const ids = log.read().flatMap(({ method, id }) => (method === 'tools/call' ? [id] : []))
      expect(ids).toHaveLength(1000)
      expect(new Set(ids).size).toBe(1000)
      expect(ids).not.toContain(null)
      // Keys of our own would stand under names that are not ours.
      const metas = log.read().map(({ params }) => Object.keys(params?.['_meta'] ?? {}))
      expect(
        metas.flat().filter((key) => key !== 'progressToken' && !key.startsWith('io.modelcontextprotocol/')),
      ).toEqual([])
    },
  },
  {
    row: 'S8 B2',
    does: 'asks though it may not',
    options: { limits: { probeMs: 10_000 } },
    async check({ ready, call, log }) {
      expect((await ready()).servers[0]?.era).toBe('modern')
      expect(wordsOf(await call())).toBe('done')
      expect(wordsOf(await call())).toBe('done')
      expect(log.read().filter(({ id }) => id === 'x1' || id === 'x2')).toEqual([])
      expect(log.read().every((message) => !Array.isArray(message))).toBe(true)
    },
  },
  {
    row: 'B3 K2',
    does: 'answers with results of no known type',
    options: { limits: { probeMs: 10_000 } },
    async check({ ready, failure }) {
      await ready()
      expect(await failure('do')).toBe('TOOL_LOST')
    },
  },
  {
    row: 'P4 U3 U1',
    does: 'asks for what we cannot do',
    async check({ ready, log }) {
      await ready()
      await until(() => log.read().filter(({ id }) => id === 'x1' || id === 'x2').length === 2)
      expect(log.read().find(({ id }) => id === 'x1')).toMatchObject({ error: { code: -32601 } })
      expect(log.read().find(({ id }) => id === 'x2')).toMatchObject({ result: {} })
    },
  },
  {
    row: 'S12 Z6',
    does: 'tells its environment',
    async check({ ready, call }) {
      process.env.PARLEY_SENTINEL = 'sentinel'
      await ready()
      const told = JSON.parse(wordsOf(await call())) as { names: string[]; cwd: string }
      delete process.env.PARLEY_SENTINEL
      expect(told.names).toEqual(expect.arrayContaining(['PATH', 'TOKEN']))
      expect(told.names.filter((name) => name.startsWith('PARLEY_'))).toEqual(['PARLEY_CHILD'])
      expect(told.cwd).toBe('/')
    },
  },
]

const ends: readonly Case[] = [
  {
    row: 'S6 G10',
    does: 'ends in the middle of a call',
    async check({ ready, call, registry }) {
      await ready()
      await expect(call()).rejects.toThrow(
        'The result of tool s__do was lost: it ended with exit code 3: out of cheese [hidden]. It may have run.',
      )
      await changeTo(registry, ({ servers }) => servers[0]?.state === 'ready')
      expect(wordsOf(await call('say', { text: 'back' }))).toBe('back')
    },
  },
  {
    row: 'S6 G10',
    does: 'is killed in the middle of a call',
    async check({ ready, call }) {
      await ready()
      await expect(call()).rejects.toThrow('it ended with signal SIGKILL')
    },
  },
  {
    row: 'S6',
    does: 'ends once',
    async check({ ready, registry }) {
      await ready()
      const { tools } = await changeTo(registry, ({ servers }) => servers[0]?.state === 'failed')
      expect(tools).toEqual([])
      await changeTo(registry, ({ servers }) => servers[0]?.state === 'ready')
    },
  },
  {
    row: 'S6',
    does: 'ends soon after each start',
    options: { limits: { restartPausesMs: [1, 1, 1], cooldownMs: 60_000 } },
    async check({ registry, log, failure }) {
      const rests = ({ servers }: ReturnType<typeof registry.list>): boolean =>
        servers[0]?.reason?.includes('rests') === true
      expect((await changeTo(registry, rests)).servers[0]?.reason).toBe(
        'MCP server s was lost: it ended with exit code 9. It was lost 4 times soon after its start and rests for now.',
      )
      expect(await failure()).toBe('TOOL_NOT_RUN')
      // Its first start died of nothing but its own: no start is spent on the newest protocol once the older is known.
      expect(log.methods().filter((method) => method === 'start')).toHaveLength(4)
    },
  },
  {
    row: 'S6 (subscriptions)',
    does: 'forgets who watches when it ends',
    async check({ ready, call, failure, registry, log }) {
      await ready()
      const changed = () => registry.list().resources.filter((one) => one.changed === true).length
      await registry.read('s', 'test://one', { signal: never })
      expect(await failure()).toBe('TOOL_LOST')
      // Nobody can say whether it has changed meanwhile.
      await changeTo(registry, ({ servers }) => servers[0]?.state === 'ready' && changed() === 1)
      await eventually(() => expect(log.methods().filter((one) => one === 'resources/subscribe')).toHaveLength(2))
      await registry.read('s', 'test://one', { signal: never })
      expect(changed()).toBe(0)
      await call('say', { text: '' })
      await changeTo(registry, () => changed() === 1)
    },
  },
  {
    row: 'S6',
    does: 'closes its output and stays',
    async check({ ready, failure }) {
      await ready()
      expect(await failure()).toBe('TOOL_LOST')
    },
  },
  {
    row: 'S4 G9',
    does: 'has a grandchild that ignores every signal',
    async check({ ready, registry, log }) {
      await ready()
      const child = log.read().find(({ method }) => method === 'grandchild') as unknown as { child: number }
      expect(runs(child.child)).toBe(true)
      await registry.close()
      expect(runs(child.child)).toBe(false)
    },
  },
  {
    row: 'S3',
    does: 'stays at the end of its input',
    async check({ ready, registry, bench }) {
      await ready()
      const since = performance.now()
      await registry.close()
      expect(performance.now() - since).toBeLessThan(60_000)
      expect(carrying(bench.marker)).toEqual([])
    },
  },
]

describe.concurrent.each([
  ['starts', starting],
  ['speaks', streams],
  ['ends', ends],
])('a process %s, and', (_, cases) => {
  for (const one of cases) test(`${one.does} [${one.row}]`, () => playStdio(one))
})
