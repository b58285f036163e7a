import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { SearchIndex } from '../../src/ports/search.ts'
import { Teller, after, asking, cleanUp, created, freshHome, openGiven, openIndex, said, turn } from './given.ts'

cleanUp()

async function found(index: SearchIndex, query: string, cwd?: string) {
  const { hits, behind } = await index.search(asking(query, cwd === undefined ? {} : { cwd }))
  expect(behind).toBe(0)
  return hits
}

/** The marked words of each passage. */
async function marked(index: SearchIndex, query: string): Promise<readonly (readonly string[])[]> {
  return (await found(index, query)).map(({ text, highlights }) => highlights.map(([from, to]) => text.slice(from, to)))
}

describe.concurrent('what was said', () => {
  test('is found with its session, its turn and its place, the words marked', async () => {
    const { journal, index } = await openGiven(freshHome())
    const teller = new Teller(journal, 's')
    await teller.tell(created('/here'), ...turn(1, 'Where is the key?', 'Under the ', 'door mat.'))
    const [hit, ...others] = await found(index, 'mat under')
    expect(others).toEqual([])
    expect(hit).toMatchObject({ sessionId: 's', cwd: '/here', by: 'agent', turn: 't1', seq: 5, until: 6 })
    expect(hit?.text).toBe('Under the door mat.')
    expect(await marked(index, 'mat under')).toEqual([['Under', 'mat']])
    expect(await found(index, 'key')).toMatchObject([{ by: 'user', turn: 't1', seq: 4, text: 'Where is the key?' }])
  })

  test('is found across the borders of chunks, while it is still being said', async () => {
    const { journal, index } = await openGiven(freshHome())
    const teller = new Teller(journal, 's')
    const [accepted, started, asked] = turn(1, 'go')
    await teller.tell(created(), ...[accepted, started, asked].flatMap((body) => body ?? []))
    await teller.tell(said('t1', 'The inter'))
    expect(await found(index, 'international')).toEqual([])
    await teller.tell(said('t1', 'national 磁盘'), said('t1', '阵列 half \ud83d'))
    expect(await marked(index, 'international')).toEqual([['international']])
    expect(await marked(index, '磁盘阵列')).toEqual([['磁盘阵列']])
    await teller.tell(said('t1', '\ude00done'))
    expect((await found(index, 'done'))[0]?.text).toBe('The international 磁盘阵列 half 😀done')
    expect(await found(index, 'inter')).toEqual([])
  })

  test('in Chinese is exact: a run of characters is a phrase, of one character too', async () => {
    const { journal, index } = await openGiven(freshHome())
    await new Teller(journal, 's').tell(created(), ...turn(1, '请问', '阵，列之间有逗号', '。软RAID5可以吗'))
    expect(await found(index, '阵列')).toEqual([])
    expect(await marked(index, '逗号')).toEqual([['逗号']])
    expect(await marked(index, '列')).toEqual([['列']])
    expect(await marked(index, '软RAID')).toEqual([['软RAID']])
  })

  test('includes thoughts, titles, and what tool calls are called and gave, as it was last', async () => {
    const { journal, index } = await openGiven(freshHome())
    const [accepted, started, asked, ended] = turn(1, 'go')
    const content = (text: string) => [{ type: 'content', content: { type: 'text', text } }] as const
    await new Teller(journal, 's').tell(
      ...[created(), accepted, started, asked].flatMap((body) => body ?? []),
      said('t1', 'pondering', 'thought'),
      { kind: 'tool_call', toolCallId: 'c', call: { title: 'Reads manual.txt', content: content('walrus') } },
      { kind: 'tool_call_patched', toolCallId: 'c', patch: { status: 'completed', content: content('penguin') } },
      { kind: 'tool_call_patched', toolCallId: 'c', patch: { title: 'Has read manual.txt' } },
      { kind: 'title', title: 'First name' },
      { kind: 'title', title: 'Second name' },
      ...(ended === undefined ? [] : [ended]),
    )
    expect(await found(index, 'pondering')).toMatchObject([{ by: 'thought' }])
    expect(await found(index, 'walrus')).toEqual([])
    expect(await found(index, 'penguin read')).toMatchObject([{ by: 'tool', seq: 6, until: 8 }])
    expect(await found(index, 'first name')).toEqual([])
    expect(await found(index, 'second name')).toMatchObject([{ by: 'title', turn: null, title: 'Second name' }])
  })

  test('of a message longer than a passage is found wherever it stands, and listed once', async () => {
    const { journal, index } = await openGiven(freshHome())
    const filler = (from: number) => Array.from({ length: 8_000 }, (_, index) => `filler${from + index} `).join('')
    const chunks = [filler(0), 'sesame opens here ', filler(8_000), 'at the very end']
    const teller = new Teller(journal, 's')
    await teller.tell(created(), ...turn(1, 'go', ...chunks))
    expect(await marked(index, 'sesame opens')).toEqual([['sesame', 'opens']])
    for (const number of [0, 2_499, 7_999, 8_000, 12_345, 15_999])
      expect(await found(index, `filler${number}`)).toHaveLength(1)
    expect(await found(index, 'very end')).toHaveLength(1)
  })
})

describe.concurrent('the order and the bounds', () => {
  test('newest first, no more than asked for, of one directory if wanted', async () => {
    const { journal, index } = await openGiven(freshHome())
    await new Teller(journal, 'late', 2_000_000_000_000).tell(created('/a'), ...turn(1, 'needle'))
    await new Teller(journal, 'early', 1_000_000_000_000).tell(created('/b'), ...turn(1, 'needle'))
    expect((await found(index, 'needle')).map(({ sessionId }) => sessionId)).toEqual(['late', 'early'])
    expect((await found(index, 'needle', '/b')).map(({ sessionId }) => sessionId)).toEqual(['early'])
    expect(await found(index, 'needle', '/')).toEqual([])
    expect(await index.search(asking('needle', { limit: 1 }))).toMatchObject({ more: true, hits: [{}] })
    expect(await index.search(asking('needle', { limit: 2 }))).toMatchObject({ more: false })
  })

  test('a query without a word finds nothing, and no character has a meaning of its own', async () => {
    const { journal, index } = await openGiven(freshHome())
    await new Teller(journal, 's').tell(created(), ...turn(1, 'alpha "beta" OR NOT near(x)'))
    for (const query of ['', ' ', '?!', '"', '*', '()']) expect(await found(index, query)).toEqual([])
    expect(await found(index, 'alpha OR nothing')).toEqual([])
    expect(await found(index, '"beta" near(x)')).toHaveLength(1)
  })
})

describe.concurrent('a session', () => {
  test('that is deleted vanishes at once; one that is forked is found on its own', async () => {
    const { journal, index } = await openGiven(freshHome())
    const teller = new Teller(journal, 's')
    await teller.tell(created(), ...turn(1, 'needle'))
    const head = await journal.head('s')
    if (head === undefined) throw new Error('it is gone')
    const { seq } = teller
    const forked = { kind: 'forked_from', from: { session: 's', seq } }
    await journal.fork('s', {
      row: { ...head.row, id: 'fork', lastSeq: seq + 1 },
      entries: [{ seq: seq + 1, at: 1, body: JSON.stringify(forked) }],
      expected: seq,
    })
    expect((await found(index, 'needle')).map(({ sessionId }) => sessionId).toSorted()).toEqual(['fork', 's'])
    await journal.delete('s')
    expect((await found(index, 'needle')).map(({ sessionId }) => sessionId)).toEqual(['fork'])
    await new Teller(journal, 's').tell(created(), ...turn(1, 'another'))
    expect((await found(index, 'needle')).map(({ sessionId }) => sessionId)).toEqual(['fork'])
    expect(await found(index, 'another')).toHaveLength(1)
  })
})

describe.concurrent('the index', () => {
  test('that is lost, damaged or of another program is made anew from the journal', async () => {
    const home = freshHome()
    const { journal, index, reports } = await openGiven(home)
    const teller = new Teller(journal, 's')
    await teller.tell(created(), ...turn(1, 'needle'))
    expect(await found(index, 'needle')).toHaveLength(1)
    for (const name of ['search.db', 'search.db-wal', 'search.db-shm']) rmSync(join(home, name), { force: true })
    expect(await found(index, 'needle')).toHaveLength(1)
    expect(existsSync(join(home, 'search.db'))).toBe(true)
    await index.close()
    writeFileSync(join(home, 'search.db'), 'this is no database, however long it is. '.repeat(200))
    expect(await found(openIndex(home).index, 'needle')).toHaveLength(1)
    copyFileSync(join(home, 'journal.db'), join(home, 'search.db'))
    expect(await found(openIndex(home).index, 'needle')).toHaveLength(1)
    expect(reports).toEqual([])
  })

  test('with damaged pages is noticed when it is asked, and made anew', async () => {
    const home = freshHome()
    const { journal, index } = await openGiven(home)
    const teller = new Teller(journal, 's')
    await teller.tell(created(), ...Array.from({ length: 50 }, (_, n) => turn(n + 1, `needle ${n}`)).flat())
    expect(await found(index, 'needle 7')).toHaveLength(1)
    await index.close()
    const path = join(home, 'search.db')
    const bytes = readFileSync(path)
    bytes.fill(0x5a, 4096)
    writeFileSync(path, bytes)
    expect(await found(openIndex(home).index, 'needle 7')).toHaveLength(1)
  })

  test('takes in what was stored without it, and begins anew where the journal was put back', async () => {
    const home = freshHome()
    const first = await openGiven(home)
    await new Teller(first.journal, 's').tell(created(), ...turn(1, 'needle'))
    await first.journal.close()
    copyFileSync(join(home, 'journal.db'), join(home, 'copy.db'))
    expect(await found(openIndex(home).index, 'needle')).toHaveLength(1)
    const second = await openGiven(home)
    await new Teller(second.journal, 's2').tell(created(), ...turn(1, 'vanishes'))
    await second.journal.append(await after(second.journal, 's', turn(2, 'vanishes', 'vanishes')))
    expect(await found(second.index, 'vanishes')).toHaveLength(3)
    await second.index.close()
    await second.journal.close()
    copyFileSync(join(home, 'copy.db'), join(home, 'journal.db'))
    const third = await openGiven(home)
    await third.journal.append(await after(third.journal, 's', turn(2, 'stays', 'and stays ', 'for ever')))
    expect(await found(third.index, 'vanishes')).toEqual([])
    expect(await found(third.index, 'stays')).toHaveLength(2)
    expect(await found(third.index, 'needle')).toHaveLength(1)
  })

  test('of two processes is one, and each finds everything', async () => {
    const home = freshHome()
    const { journal, index } = await openGiven(home)
    const { index: other } = openIndex(home)
    for (let number = 1; number <= 20; number += 1) {
      await new Teller(journal, `s${number}`).tell(created(), ...turn(1, 'needle', `word${number}`))
    }
    const [ours, theirs] = await Promise.all([found(index, 'needle'), found(other, 'needle')])
    expect(ours).toHaveLength(20)
    expect(theirs).toEqual(ours)
  })

  test('tells how far it is behind when it was given no time', async () => {
    const home = freshHome()
    const { journal, index } = await openGiven(home)
    const teller = new Teller(journal, 's')
    await teller.tell(created())
    for (let number = 1; number <= 40; number += 1)
      await teller.tell(...turn(number, 'go', ...Array.from({ length: 100 }, (_, n) => `needle${number} word${n} `)))
    const { behind, hits } = await index.search(asking('needle40', { timeoutMs: 0 }))
    expect(behind === 0 ? hits.length : behind).toBeGreaterThan(0)
    expect(await found(index, 'needle40')).toHaveLength(1)
  })
})
