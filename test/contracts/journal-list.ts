/** What every journal promises of the rows of its sessions, one by one and in lists. */
import { describe, expect, test } from 'vitest'
import type { Journal, ListQuery, SessionPhase } from '../../src/ports/journal.ts'
import { appendOf, entriesOf, idsOf, wide } from './journal-words.ts'

export function listContract(journal: () => Journal): void {
  describe('list', () => {
    test('has the newest first, ties by id, in pages that miss no session', async () => {
      const times = [5, 3, 9, 3, 3, 7, 1]
      for (const [index, updatedAt] of times.entries()) {
        await journal().append(appendOf(`s${index}`, 0, { count: 1, row: { updatedAt } }))
      }
      expect(idsOf(await journal().list({ limit: 10 }))).toEqual(['s2', 's5', 's0', 's1', 's3', 's4', 's6'])
      const pages: string[][] = []
      let after: { updatedAt: number; id: string } | undefined
      for (;;) {
        const page = await journal().list(after === undefined ? { limit: 2 } : { limit: 2, after })
        pages.push(idsOf(page))
        const last = page.at(-1)
        if (page.length < 2 || last === undefined) break
        after = { updatedAt: last.updatedAt, id: last.id }
      }
      expect(pages).toEqual([['s2', 's5'], ['s0', 's1'], ['s3', 's4'], ['s6']])
    })

    test('goes on from where it was although sessions come and go', async () => {
      for (let index = 0; index < 6; index += 1) {
        await journal().append(appendOf(`s${index}`, 0, { count: 1, row: { updatedAt: 100 - index } }))
      }
      const [, second] = await journal().list({ limit: 2 })
      await journal().delete('s1')
      await journal().append(appendOf('s9', 0, { count: 1, row: { updatedAt: 1000 } }))
      const after = { updatedAt: second?.updatedAt ?? 0, id: second?.id ?? '' }
      expect(idsOf(await journal().list({ limit: 2, after }))).toEqual(['s2', 's3'])
    })

    test('shows a session in a turn as its last append left it, among the others and from page to page', async () => {
      const append = async (id: string, seq: number, phase: SessionPhase): Promise<void> =>
        journal().append(appendOf(id, seq, { count: 1, row: { phase } }))
      for (const [index, phase] of (['idle', 'working', 'waiting', 'working', 'idle', 'closed'] as const).entries())
        for (let seq = 0; seq < 3 + index; seq += 1) await append(`s${index}`, seq, phase)
      for (let seq = 4; seq < 7; seq += 1) await append('s1', seq, 'working')
      await expect(append('s1', 4, 'working')).rejects.toMatchObject({
        code: 'JOURNAL_CONFLICT',
        details: { found: 7 },
      })
      const newest = ['s5', 's1', 's4', 's3', 's2', 's0']
      const rows = await journal().list({ limit: 9 })
      expect(idsOf(rows)).toEqual(newest)
      for (const row of rows) expect((await journal().head(row.id))?.row).toEqual(row)
      expect(rows[1]).toEqual(appendOf('s1', 6, { count: 1, row: { phase: 'working' } }).row)
      const paged: string[] = []
      for (let after = rows.at(-1); after !== undefined;) {
        const [row] = await journal().list({ limit: 1, ...(paged.length > 0 && { after }) })
        if (row !== undefined) paged.push(row.id)
        after = row
      }
      expect(paged).toEqual(newest)
      expect(idsOf(await journal().list({ phases: ['working'], limit: 9 }))).toEqual(['s1', 's3'])
      expect(idsOf(await journal().list({ phases: ['working', 'closed'], limit: 2 }))).toEqual(['s5', 's1'])
      await journal().fork('s1', appendOf('fork', 7, 1))
      expect(await journal().page('fork', 0, wide)).toEqual([...entriesOf('s1', 0, 7), ...entriesOf('fork', 7, 1)])
      await append('s1', 7, 'idle')
      expect((await journal().head('s1'))?.row).toEqual(appendOf('s1', 7, 1).row)
    })

    test('filters by exactly this directory and by phase', async () => {
      const phases: readonly SessionPhase[] = ['idle', 'working', 'waiting', 'suspended', 'closed']
      for (const [index, phase] of phases.entries()) {
        const cwd = index % 2 === 0 ? '/w' : '/w/'
        await journal().append(appendOf(phase, 0, { count: 1, row: { phase, cwd, updatedAt: index } }))
      }
      expect(idsOf(await journal().list({ cwd: '/w', limit: 9 }))).toEqual(['closed', 'waiting', 'idle'])
      expect(idsOf(await journal().list({ cwd: '/W', limit: 9 }))).toEqual([])
      const open: readonly SessionPhase[] = ['working', 'waiting', 'suspended']
      expect(idsOf(await journal().list({ phases: open, limit: 9 }))).toEqual(['suspended', 'waiting', 'working'])
      expect(idsOf(await journal().list({ phases: ['idle', 'working'], limit: 9 }))).toEqual(['working', 'idle'])
      expect(idsOf(await journal().list({ phases: ['waiting'], cwd: '/w/', limit: 9 }))).toEqual([])
      expect(await journal().list({ phases: [], limit: 9 })).toEqual([])
      expect(await journal().list({ limit: 0 })).toEqual([])
    })

    test('filters by agent, by what lies below a directory, and by a text in title or directory', async () => {
      const rows = {
        a: { cwd: '/home/ada/app', agent: 'guide', title: 'Fix the Relay' },
        b: { cwd: '/home/ada/app/web', agent: 'model', title: '修复磁盘' },
        c: { cwd: '/home/ada/apple', agent: 'guide', title: null },
        d: { cwd: '/', agent: 'guide', title: '%_' },
      }
      for (const [index, [id, row]] of Object.entries(rows).entries())
        await journal().append(appendOf(id, 0, { count: 1, row: { ...row, updatedAt: 9 - index } }))
      const listed = async (query: Partial<ListQuery>) => idsOf(await journal().list({ limit: 9, ...query }))
      expect(await listed({ agent: 'guide' })).toEqual(['a', 'c', 'd'])
      expect(await listed({ cwdPrefix: '/home/ada/app' })).toEqual(['a', 'b'])
      expect(await listed({ cwdPrefix: '/home/ada/app/' })).toEqual(['b'])
      expect(await listed({ cwdPrefix: '/' })).toEqual(['a', 'b', 'c', 'd'])
      expect(await listed({ text: 'RELAY' })).toEqual(['a'])
      expect(await listed({ text: '磁盘' })).toEqual(['b'])
      expect(await listed({ text: '%' })).toEqual(['d'])
      expect(await listed({ text: 'apple', agent: 'guide', limit: 1 })).toEqual(['c'])
      expect(await listed({ agent: 'guide', limit: 1, after: { updatedAt: 9, id: 'a' } })).toEqual(['c'])
    })

    test('keeps how the last turn ended and what a session waits for', async () => {
      const options = [{ optionId: 'yes', name: 'Allow', kind: 'allow_once' as const }]
      const waiting = { requestId: 'q', toolCallId: 'c', title: 'Delete\n\0it', options, count: 2 }
      const standing = { lastEnd: { stopReason: 'end_turn', seq: 1, at: 5 }, waiting }
      await journal().append(appendOf('s', 0, { count: 1, row: { standing } }))
      expect((await journal().list({ limit: 1 }))[0]?.standing).toEqual(standing)
      await journal().append(appendOf('s', 1, 1))
      expect((await journal().head('s'))?.row.standing).toBeUndefined()
    })

    test('shows a session where its newest row says, once', async () => {
      await journal().append(appendOf('a', 0, { count: 1, row: { updatedAt: 1 } }))
      await journal().append(appendOf('b', 0, { count: 1, row: { updatedAt: 2 } }))
      await journal().append(appendOf('a', 1, { count: 1, row: { updatedAt: 3 } }))
      expect(idsOf(await journal().list({ limit: 9 }))).toEqual(['a', 'b'])
    })
  })
}
