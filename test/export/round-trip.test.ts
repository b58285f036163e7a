/** What is exported and imported is the same again, whatever the life of the session was. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/adapters/clock.ts'
import { memoryJournal } from '../../src/adapters/journal/memory.ts'
import type { StoredEntry } from '../../src/ports/journal.ts'
import { EXPORT_FORMAT, exportLine } from '../../src/session/lifecycle/export-session.ts'
import { readExport } from '../../src/server/import/read.ts'
import { ENTRY_FORMAT, decodeEntry, encodeBody } from '../../src/session/domain/entries.ts'
import { importSession } from '../../src/session/lifecycle/import-session.ts'
import { decodeState, isBusy } from '../../src/session/domain/state.ts'
import { account } from '../sim/account.ts'
import { live, replayed, wishes } from '../sim/wishes.ts'

const directory = mkdtempSync(join(tmpdir(), 'parley-export-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const wide = { entries: 1_000_000, chars: 1_000_000_000 }

function exported(stored: readonly StoredEntry[]): readonly string[] {
  const session = { id: 's', lastSeq: stored.length }
  const head = { parley: 'session', format: EXPORT_FORMAT, entryFormat: ENTRY_FORMAT, session }
  return [JSON.stringify(head), ...stored.map(exportLine)]
}

async function imported(lines: readonly string[]) {
  const path = join(directory, 'session.jsonl')
  writeFileSync(path, lines.join('\n'))
  const journal = memoryJournal()
  await importSession({ journal, clock: systemClock }, { ...(await readExport(path)), id: 'new' })
  const head = await journal.head('new')
  const state = decodeState(head?.snapshot?.state ?? '')
  if (head === undefined || state === undefined) throw new Error('it is not there')
  return { stored: await journal.page('new', 0, wide), row: head.row, state }
}

/** A life, and how much of it is exported. */
const lives = fc
  .tuple(wishes, fc.double({ min: 0, max: 1, noNaN: true }))
  .map(([wishes, share]) => live(wishes).stored.slice(0, Math.ceil(live(wishes).stored.length * share)))
  .filter((stored) => stored.length > 0)

describe('a session, cut anywhere, that is exported and imported', () => {
  test('begins with exactly what was exported, and has nothing more unless a turn was open', () =>
    fc.assert(
      fc.asyncProperty(lives, async (stored) => {
        const lines = exported(stored)
        const after = await imported(lines)
        const again = exported(after.stored)
        expect(again.slice(1, lines.length)).toEqual(lines.slice(1))
        if (!isBusy(replayed(stored))) expect(again.slice(1)).toEqual(lines.slice(1))
      }),
      { numRuns: 200 },
    ))

  test('is the same a second time', () =>
    fc.assert(
      fc.asyncProperty(lives, async (stored) => {
        const once = exported((await imported(exported(stored))).stored)
        expect(exported((await imported(once)).stored)).toEqual(once)
      }),
      { numRuns: 100 },
    ))

  test('has nothing open, one end for each prompt, and allows nothing', () =>
    fc.assert(
      fc.asyncProperty(lives, async (stored) => {
        const { stored: after, state, row } = await imported(exported(stored))
        const { accepted, ends, openCalls, openQuestions } = account(after.map(decodeEntry))
        expect({ openCalls, openQuestions }).toEqual({ openCalls: [], openQuestions: [] })
        for (const promptId of accepted) expect([promptId, ends(promptId)]).toEqual([promptId, 1])
        expect(state.grants).toEqual([])
        expect(['idle', 'closed']).toContain(row.phase)
        expect(row.lastSeq).toBe(after.length)
      }),
      { numRuns: 200 },
    ))

  test('allows again what is always allowed here, after it was imported', async () => {
    const { stored, state } = await imported(exported([entry(1, { ...created })]))
    expect(state).toMatchObject({ imported: 1, grants: [] })
    expect(stored.map(decodeEntry)[0]).toMatchObject({ kind: 'session_created', imported: 1 })
    const prompt = { kind: 'prompt_accepted', promptId: 'p', content: [] } as const
    const asked = {
      kind: 'permission_requested',
      requestId: 'r',
      toolCallId: 'c',
      call: {},
      options: [],
      grant: { tool: 'rm', definition: 'd' },
      resume: null,
    } as const
    const always = { outcome: 'selected', optionId: 'a', kind: 'allow_always' } as const
    const answered = { kind: 'permission_resolved', requestId: 'r', outcome: always } as const
    const bodies = [prompt, { kind: 'turn_started', turnId: 't1', promptId: 'p' }, asked, answered] as const
    const now = replayed([...stored, ...bodies.map((body, index) => entry(index + 2, body))])
    expect(now).toMatchObject({ grants: [{ tool: 'rm', definition: 'd', effect: 'allow' }] })
    const whole = [entry(1, created), ...bodies.map((body, index) => entry(index + 2, body))]
    expect(replayed(whole)).toMatchObject({ grants: [{ tool: 'rm', definition: 'd', effect: 'allow' }] })
    expect((await imported(exported(whole))).state.grants).toEqual([])
  })
})

const created = { kind: 'session_created', format: 1, cwd: '/', additionalDirectories: [], agent: 'guide' } as const

function entry(seq: number, body: Parameters<typeof encodeBody>[0]): StoredEntry {
  return { seq, at: 1, body: encodeBody(body) }
}
