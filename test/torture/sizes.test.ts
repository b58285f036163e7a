/** Servers that say more of everything than anyone can read, one kind of thing after the other. */
import { describe, expect, test } from 'vitest'
import type { Elicitation } from '../../src/ports/values/elicitation.ts'
import type { ToolProgress } from '../../src/ports/tools.ts'
import { changeTo, playStdio, wordsOf, type Case } from '../fixtures/mcp/torture.ts'

const cases: readonly Case[] = [
  {
    row: 'G13',
    does: 'calls itself by a book',
    async check({ ready }) {
      const [server] = (await ready()).servers
      expect(server?.state).toBe('ready')
      expect(JSON.stringify(server).length).toBeLessThan(1000)
    },
  },
  {
    row: 'G13',
    does: 'has more resources and prompts than anyone reads',
    async check({ ready, registry, bench }) {
      await ready()
      const list = await changeTo(registry, ({ resources, prompts }) => resources.length > 0 && prompts.length > 0)
      expect([list.resources.length, list.prompts.length, list.templates.length]).toEqual([5000, 5000, 0])
      expect(bench.warnings.join()).toContain('the first 5000 are used')
    },
  },
  {
    row: 'G13',
    does: 'describes its tools in page after page of ten megabytes',
    async check({ ready, log, bench }) {
      const list = await ready()
      expect(list.servers).toMatchObject([{ state: 'ready' }])
      expect(JSON.stringify(list.tools).length).toBeLessThan(50_000_000)
      expect(log.methods().filter((method) => method === 'page').length).toBeLessThan(6)
      expect(bench.warnings.join()).toContain('the first ones are used')
    },
  },
  {
    row: 'U8 G13',
    does: 'asks a thousand questions at once',
    options: { elicitation: true },
    async check({ ready, call }) {
      await ready()
      const asked: Elicitation[] = []
      let open = 0
      let most = 0
      const onElicit = async (question: Elicitation) => {
        asked.push(question)
        open += 1
        most = Math.max(most, open)
        await new Promise((resolve) => setImmediate(resolve))
        open -= 1
        return { action: 'decline' } as const
      }
      const { decline, cancel } = JSON.parse(wordsOf(await call('do', {}, { onElicit })).split('|')[0] ?? '') as {
        readonly decline: number
        readonly cancel: number
      }
      expect(most).toBeLessThanOrEqual(8)
      expect(decline).toBe(asked.length)
      expect(decline + cancel).toBe(1000)
    },
  },
  {
    row: 'P2 G13',
    does: 'says with its progress what fills a book',
    async check({ ready, call }) {
      await ready()
      const told: ToolProgress[] = []
      await call('do', {}, { onProgress: (progress) => void told.push(progress) })
      expect(told).toHaveLength(1)
      expect(told[0]?.message?.length).toBeLessThan(2000)
    },
  },
]

describe('a server', () => {
  for (const one of cases) test(`${one.does} [${one.row}]`, () => playStdio(one))
})
