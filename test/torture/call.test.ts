/** Calls that go wrong in every way that a server can find, and what the agent is told. */
import { afterAll, describe, expect, test } from 'vitest'
import type { Elicitation, ElicitationAnswer } from '../../src/ports/values/elicitation.ts'
import type { ToolInputRequest, ToolProgress } from '../../src/ports/tools.ts'
import { changeTo, never, originals, playHosted, ruled, wordsOf, type Case } from '../fixtures/mcp/torture.ts'
import type { Fields } from '../e2e/message.ts'
import { until } from '../fixtures/process/running.ts'
import { openChecker } from '../fixtures/tools/checker.ts'

const callsIn = (log: Parameters<Case['check']>[0]['log']): readonly Fields[] =>
  log.read().flatMap(({ method, params }) => (method === 'tools/call' ? [params ?? {}] : []))

const times: readonly Case[] = [
  {
    row: 'L6 C6',
    does: 'never answers a call',
    async check({ ready, failure, log }) {
      await ready()
      expect(await failure('do', {}, { timeoutMs: 50 })).toBe('TOOL_TIMEOUT')
      await until(() => log.methods().includes('notifications/cancelled'))
    },
  },
  {
    row: 'L6 (per server)',
    does: 'never answers a call',
    options: ruled({ timeoutMs: 50, tools: { say: { timeoutMs: 40 } } }),
    async check({ ready, call }) {
      await ready()
      await expect(call()).rejects.toThrow('within 50 ms')
      await expect(call('say', { text: '' })).rejects.toThrow('within 40 ms')
    },
  },
  {
    row: 'P3 S7',
    does: 'answers after it was told to stop',
    async check({ ready, failure, call, log }) {
      await ready()
      const abort = new AbortController()
      const cancelled = failure('do', {}, { signal: abort.signal })
      await until(() => log.methods().includes('tools/call'))
      abort.abort()
      expect(await cancelled).toBe('TOOL_CANCELLED')
      expect(wordsOf(await call('say', { text: 'next' }))).toBe('next')
      // It was told at once: before it was asked for the next.
      const told = log.methods().filter((method) => method === 'tools/call' || method === 'notifications/cancelled')
      expect(told).toEqual(['tools/call', 'notifications/cancelled', 'tools/call'])
    },
  },
  {
    row: 'L6 G13',
    does: 'shows progress for ever',
    options: { limits: { callMs: 200, callTotalMs: 600 } },
    async check({ ready, failure }) {
      await ready()
      const since = performance.now()
      expect(await failure()).toBe('TOOL_TIMEOUT')
      expect(performance.now() - since).toBeGreaterThan(550)
    },
  },
  {
    row: 'P1 P2',
    does: 'shows progress two thousand times',
    async check({ ready, call }) {
      await ready()
      const told: number[] = []
      const onProgress = ({ progress }: ToolProgress): void => void told.push(progress)
      expect(wordsOf(await call('do', {}, { onProgress }))).toBe('done')
      // However often it was said, the last word counts.
      expect(told.at(-1)).toBe(1999)
      expect(told.length).toBeLessThan(100)
    },
  },
]

const hasty = openChecker({ jobMs: 300 })
afterAll(() => hasty.close())

const answers: readonly Case[] = [
  {
    row: 'C9',
    does: 'takes nothing for some of its arguments',
    async check({ ready, call, failure }) {
      await ready()
      const sent = async (args: Fields) => JSON.parse(wordsOf(await call('do', args))) as unknown
      // Models write null for what they have no value for: the schema says where that means something.
      expect(await sent({ text: 'x', note: null, page: null })).toEqual({ text: 'x', note: null })
      expect(await sent({ text: 'x', other: null, page: 1 })).toEqual({ text: 'x', other: null, page: 1 })
      expect(await failure('do', { text: null })).toBe('TOOL_ARGUMENTS')
      expect(await failure('do', { text: 'x', page: 'one' })).toBe('TOOL_ARGUMENTS')
    },
  },
  {
    row: 'B2',
    does: 'speaks in batches',
    async check({ ready, call, log }) {
      expect(originals(await ready())).toEqual(['say', 'do'])
      const told: number[] = []
      const onProgress = ({ progress }: ToolProgress): void => void told.push(progress)
      expect(wordsOf(await call('do', {}, { onProgress, timeoutMs: 5000 }))).toBe('in a batch')
      expect(told.at(-1)).toBe(2)
      await until(() => log.read().some(({ id, method }) => id === 'pong' && method === undefined))
    },
  },
  {
    row: 'B2 G13',
    does: 'speaks in one batch without end',
    async check({ ready, call }) {
      await ready()
      let breaths = 0
      const timer = setInterval(() => (breaths += 1), 1)
      expect(wordsOf(await call('do', {}, { timeoutMs: 60_000 }))).toBe('at last')
      clearInterval(timer)
      expect(breaths).toBeGreaterThan(20)
    },
  },
  {
    row: 'C1 G7 X4',
    does: 'answers with every kind of content',
    async check({ ready, call }) {
      await ready()
      const { content } = await call()
      expect(content.map(({ type }) => type)).toEqual([
        'text',
        'image',
        'audio',
        'text',
        'resource_link',
        'resource',
        'text',
        'text',
      ])
      expect(content[0]).toEqual({ type: 'text', text: 'words', annotations: { audience: ['user'] } })
    },
  },
  {
    row: 'C4 C5',
    does: 'answers with structured content alone',
    async check({ ready, call }) {
      await ready()
      expect(await call()).toMatchObject({ structured: [1, 'two'], content: [{ text: '[1,"two"]' }] })
    },
  },
  {
    row: 'C3 G7',
    does: 'does not keep the promise of its output',
    async check({ ready, call, bench }) {
      await ready()
      expect(await call()).toMatchObject({ content: [{ text: 'it ran' }], structured: { m: 1 }, isError: false })
      expect(bench.warnings.join()).toContain('does not fit its outputSchema')
    },
  },
  {
    row: 'J2',
    does: 'promises output in a schema that is broken',
    async check({ ready, call, bench }) {
      await ready()
      expect(wordsOf(await call())).toBe('done')
      expect(bench.warnings.join()).toContain('the outputSchema of tool do is wrong')
    },
  },
  {
    row: 'founding B',
    does: 'has a schema that contradicts itself',
    async check({ ready, call, failure, bench }) {
      await ready()
      for (const page of [1, '2']) expect(wordsOf(await call('do', { page }))).toBe('done')
      expect(await failure('do', { page: {} })).toBe('TOOL_ARGUMENTS')
      expect(bench.warnings).toEqual([expect.stringContaining('page wants type "number"')])
    },
  },
  {
    row: 'J3',
    does: 'has a pattern that takes for ever',
    options: { checker: hasty },
    async check({ ready, call }) {
      await ready()
      const since = performance.now()
      expect(wordsOf(await call('do', { text: `${'a'.repeat(40)}!` }))).toBe(`${'a'.repeat(40)}!`)
      expect(performance.now() - since).toBeLessThan(30_000)
    },
  },
  {
    row: 'C2',
    does: 'fails in words',
    async check({ ready, call }) {
      await ready()
      expect(await call()).toEqual({ content: [{ type: 'text', text: 'no such file' }], isError: true })
    },
  },
  {
    row: 'C2',
    does: 'refuses in the protocol',
    async check({ ready, call }) {
      await ready()
      const result = await call()
      expect(result.isError).toBe(true)
      expect(wordsOf(result)).toContain('not with [hidden]')
    },
  },
  {
    row: 'C7 G16',
    does: 'answers with twenty megabytes',
    async check({ ready, call }) {
      await ready()
      const { content, modelContent: brief } = await call()
      expect(JSON.stringify(content).length).toBeLessThan(11 * 1024 * 1024)
      expect(wordsOf({ content, isError: false })).toContain('[Left out: the rest of a text of 20971520 characters')
      expect(JSON.stringify(brief).length).toBeLessThan(40_000)
      expect(wordsOf({ content: brief ?? [], isError: false })).toContain('Ask the tool for less.')
    },
  },
  {
    row: 'K1 K2',
    does: 'answers with a task',
    async check({ ready, call }) {
      await ready()
      await expect(call()).rejects.toThrow('a task, which Parley does not speak yet. It may have run.')
    },
  },
]

const john: ElicitationAnswer = { action: 'accept', content: { name: 'John' } }

const questions: readonly Case[] = [
  {
    row: 'U4 U5',
    does: 'asks the person',
    options: { elicitation: true, limits: { callMs: 300 } },
    async check({ ready, call }) {
      await ready()
      const asked: Elicitation[] = []
      const onElicit = async (question: Elicitation): Promise<ElicitationAnswer> => {
        asked.push(question)
        // People think for longer than servers.
        await new Promise((resolve) => setTimeout(resolve, 600))
        return john
      }
      expect(JSON.parse(wordsOf(await call('do', {}, { onElicit })))).toEqual(john)
      expect(asked).toMatchObject([{ mode: 'form', server: 's', message: 'name?' }])
    },
  },
  {
    row: 'U5',
    does: 'asks the person',
    options: { elicitation: true },
    async check({ ready, call }) {
      await ready()
      expect(JSON.parse(wordsOf(await call()))).toEqual({ action: 'cancel' })
      const onElicit = (): Promise<never> => Promise.reject(new Error('no'))
      expect(JSON.parse(wordsOf(await call('do', {}, { onElicit })))).toEqual({ action: 'cancel' })
    },
  },
  {
    row: 'U7 Z5',
    does: 'asks the person',
    options: { elicitation: true },
    async check({ ready, call }) {
      await ready()
      const asked: Elicitation[] = []
      const onElicit = async (question: Elicitation): Promise<ElicitationAnswer> => {
        asked.push(question)
        return { action: 'accept' }
      }
      await call('do', { url: 'file:///etc/passwd' }, { onElicit })
      expect(asked).toEqual([])
      await call('do', { url: 'https://example.org/' }, { onElicit })
      expect(asked).toEqual([{ mode: 'url', server: 's', message: 'look', url: 'https://example.org/' }])
    },
  },
  {
    row: 'U4',
    does: 'asks the person',
    async check({ ready, call }) {
      await ready()
      expect(JSON.parse(wordsOf(await call('do', {}, { onElicit: async () => john })))).toMatchObject({ code: -32601 })
    },
  },
  {
    row: 'R1 R2',
    does: 'asks the person in rounds',
    options: { elicitation: true },
    async check({ ready, call }) {
      expect((await ready()).servers[0]?.era).toBe('modern')
      const answered = JSON.parse(wordsOf(await call('do', {}, { onElicit: async () => john }))) as readonly unknown[]
      expect(answered).toEqual([{ who: john }, 'opaque 软'])
    },
  },
  {
    row: 'R1 R2 R5',
    does: 'asks for more in two rounds',
    async check({ ready, call, log }) {
      await ready()
      const pauses: ToolInputRequest[] = []
      const onPause = async (pause: ToolInputRequest) => {
        pauses.push(pause)
        return { who: john, again: { action: 'decline' }, page: { action: 'accept' } } as const
      }
      const answered = JSON.parse(wordsOf(await call('do', {}, { onInputRequired: onPause }))) as readonly unknown[]
      expect(answered).toEqual([{ page: { action: 'accept' } }, 'opaque 2'])
      expect(pauses.map(({ questions }) => Object.keys(questions))).toEqual([['who', 'again'], ['page']])
      const [, second] = callsIn(log)
      expect(second).toMatchObject({
        requestState: 'opaque 1',
        inputResponses: { who: john, again: { action: 'decline' }, where: { roots: [{ uri: 'file:///' }] } },
      })
    },
  },
  {
    row: 'R5',
    does: 'asks for more in two rounds',
    async check({ ready, call, log }) {
      await ready()
      const pauses: ToolInputRequest[] = []
      const stop = async (pause: ToolInputRequest) => {
        pauses.push(pause)
        throw new Error('the server was killed')
      }
      await expect(call('do', { a: 1 }, { onInputRequired: stop })).rejects.toThrow('killed')
      const [kept] = pauses
      if (kept === undefined) throw new Error('nothing was asked')
      const goesOn = JSON.parse(JSON.stringify(kept)) as ToolInputRequest
      const onPause = async () => ({ who: john })
      await call('do', { a: 1 }, { resumeFrom: goesOn, onInputRequired: onPause })
      expect(callsIn(log).map(({ requestState }) => requestState)).toEqual([undefined, 'opaque 1', 'opaque 2'])
    },
  },
  {
    row: 'R5',
    does: 'asks the person and dies',
    async check({ ready, call, registry, log }) {
      await ready()
      const onPause = async () => {
        await changeTo(registry, ({ servers }) => servers[0]?.state !== 'ready')
        return { who: john }
      }
      expect(JSON.parse(wordsOf(await call('do', {}, { onInputRequired: onPause })))).toEqual([{ who: john }, 'opaque'])
      const pids = log.read().flatMap(({ method, pid }) => (method === 'tools/call' ? [pid] : []))
      expect(new Set(pids).size).toBe(2)
      expect(callsIn(log)).toHaveLength(2)
    },
  },
  {
    row: 'R3',
    does: 'only asks to be asked again',
    async check({ ready, call }) {
      await ready()
      expect(wordsOf(await call('do'))).toBe('...')
    },
  },
  {
    row: 'R1',
    does: 'never has enough',
    async check({ ready, call, log }) {
      await ready()
      const result = await call('do', {}, { onElicit: async () => john })
      expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('after 10 rounds') }] })
      expect(callsIn(log)).toHaveLength(10)
    },
  },
  {
    row: 'R5',
    does: 'wants more kept than anyone keeps',
    async check({ ready, call }) {
      await ready()
      const onPause = async () => Promise.reject(new Error('nobody may be asked'))
      const result = await call('do', {}, { onInputRequired: onPause })
      expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('are kept') }] })
    },
  },
  {
    row: 'R4',
    does: 'wants a model',
    async check({ ready, call, log }) {
      await ready()
      const onElicit = async () => Promise.reject(new Error('nobody may be asked'))
      const result = await call('do', {}, { onElicit })
      expect(result).toMatchObject({
        isError: true,
        content: [{ text: expect.stringContaining('sampling/createMessage') }],
      })
      expect(callsIn(log)).toHaveLength(1)
    },
  },
  {
    row: 'U8',
    does: 'demands a page to be visited',
    options: { elicitation: true },
    async check({ ready, call }) {
      await ready()
      expect(wordsOf(await call('do', {}, { onElicit: async () => ({ action: 'accept' }) }))).toBe('welcome')
    },
  },
  {
    row: 'U8',
    does: 'demands a page to be visited',
    async check({ ready, call }) {
      await ready()
      expect(await call()).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('sign in') }] })
    },
  },
  {
    row: 'R4',
    does: 'demands a page to be visited',
    options: { elicitation: true },
    async check({ ready, call }) {
      await ready()
      const result = await call('do', {}, { onElicit: async () => ({ action: 'decline' }) })
      expect(result.isError).toBe(true)
      expect(wordsOf(result)).toMatch(/sign in first.*\|\[It needs input, which was declined\.\]$/u)
    },
  },
  {
    row: 'R4',
    does: 'asks the person in rounds',
    options: { elicitation: true },
    async check({ ready, call }) {
      await ready()
      // What the server makes of the no is its answer, and nothing is added to that.
      const result = await call('do', {}, { onElicit: async () => ({ action: 'decline' }) })
      expect(JSON.parse(wordsOf(result))).toEqual([{ who: { action: 'decline' } }, 'opaque 软'])
    },
  },
  {
    row: 'U2',
    does: 'asks where the work is',
    async check({ ready, call, bench, server, registry, log }) {
      await ready()
      expect(JSON.parse(wordsOf(await call()))).toEqual({ roots: [{ uri: 'file:///', name: '/' }] })
      const more = bench.open([server], 'one', ['/', '/tmp/a b'])
      await more.ready(20_000, never)
      const wider = bench.open([server], 'one', ['/', '/tmp/c d'])
      expect(JSON.parse(wordsOf(await wider.call('s__do', {}, { signal: never })))).toMatchObject({
        roots: [{}, { uri: 'file:///tmp/c%20d', name: 'c d' }],
      })
      await until(() => log.methods().includes('notifications/roots/list_changed'))
      await registry.close()
    },
  },
]

describe.concurrent.each([
  ['takes its time', times],
  ['answers', answers],
  ['asks back', questions],
])('a server %s, and', (_, cases) => {
  for (const one of cases) test(`${one.does} [${one.row}]`, () => playHosted(one))
})
