/** A journal on disk and the index that follows it, as an owner has them. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../src/adapters/clock.ts'
import { openSqliteJournal } from '../../src/adapters/journal/sqlite/sqlite-journal.ts'
import { followJournal, openSearchIndex } from '../../src/adapters/search/worker/search-client.ts'
import type { Append, ImportingJournal } from '../../src/ports/journal.ts'
import type { SearchIndex, SearchRequest } from '../../src/ports/search.ts'
import { type Body, type Entry, encodeBody } from '../../src/session/domain/entries.ts'
import { evolve } from '../../src/session/domain/evolve.ts'
import { type State, absent, rowOf } from '../../src/session/domain/state.ts'
import { PerTest } from '../fixtures/process/per-test.ts'

const journalWorker = new URL('../../dist/journal-worker.cjs', import.meta.url)
const searchWorker = new URL('../../dist/search-worker.cjs', import.meta.url)

const endings = new PerTest<() => Promise<void> | void>(async (opened) => {
  for (const end of opened.toReversed()) await end()
})

/** Call once in a test file. */
export function cleanUp(): void {
  endings.closeAfterEach()
}

export function freshHome(): string {
  const home = mkdtempSync(join(tmpdir(), 'parley-search-'))
  endings.add(() => rmSync(home, { recursive: true, force: true, maxRetries: 3 }))
  return home
}

export interface Given {
  readonly journal: ImportingJournal
  readonly index: SearchIndex
  readonly reports: unknown[]
}

export async function openGiven(home: string): Promise<Given> {
  const { index, reports } = openIndex(home)
  const journal = await openSqliteJournal({ directory: home, workerUrl: journalWorker })
  followJournal(journal, index)
  endings.add(() => journal.close())
  return { journal, index, reports }
}

/** As a command does, beside an owner or without one. */
export function openIndex(home: string): Pick<Given, 'index' | 'reports'> {
  const reports: unknown[] = []
  const index = openSearchIndex({
    directory: home,
    workerUrl: searchWorker,
    clock: systemClock,
    report: (error) => reports.push(error),
  })
  endings.add(() => index.close())
  return { index, reports }
}

/** Tells a session entry by entry, as its one writer would. */
export class Teller {
  readonly id: string
  readonly #journal: ImportingJournal
  #state: State
  #at: number

  constructor(journal: ImportingJournal, id: string, at = 1_700_000_000_000) {
    this.#journal = journal
    this.id = id
    this.#state = absent(id)
    this.#at = at
  }

  get seq(): number {
    return this.#state.seq
  }

  async tell(...bodies: readonly Body[]): Promise<void> {
    const expected = this.#state.seq
    const entries = bodies.map((body, index): Entry => {
      this.#at += 1
      return Object.assign({ seq: expected + index + 1, at: this.#at }, body)
    })
    for (const entry of entries) this.#state = evolve(this.#state, entry)
    if (this.#state.phase === 'absent') throw new Error('nothing was told')
    const stored = entries.map(({ seq, at, ...body }) => ({ seq, at, body: encodeBody(body as Body) }))
    await this.#journal.append({ row: rowOf(this.#state), entries: stored, expected })
  }
}

let later = 1_800_000_000_000

/** What an owner that has just opened the session appends. */
export async function after(journal: ImportingJournal, id: string, bodies: readonly Body[]): Promise<Append> {
  const head = await journal.head(id)
  if (head === undefined) throw new Error(`there is no session ${id}`)
  later += 1
  const { lastSeq: expected } = head.row
  const entries = bodies.map((body, index) => ({ seq: expected + index + 1, at: later, body: encodeBody(body) }))
  return { row: { ...head.row, lastSeq: expected + bodies.length }, entries, expected }
}

export function created(cwd = '/work'): Body {
  return { kind: 'session_created', format: 1, cwd, additionalDirectories: [], agent: 'guide' }
}

/** A turn of one prompt and an answer that came in these chunks. */
export function turn(number: number, prompt: string, ...chunks: readonly string[]): readonly Body[] {
  const [turnId, promptId] = [`t${number}`, `p${number}`]
  const content = [{ type: 'text', text: prompt }] as const
  return [
    { kind: 'prompt_accepted', promptId, content },
    { kind: 'turn_started', turnId, promptId },
    { kind: 'message_chunk', role: 'user', messageId: `${turnId}-user`, promptId, content: content[0] },
    ...chunks.map((text) => said(turnId, text)),
    { kind: 'turn_ended', turnId, promptId, stopReason: 'end_turn' },
  ]
}

export function said(turnId: string, text: string, role: 'agent' | 'thought' = 'agent'): Body {
  return { kind: 'message_chunk', role, messageId: `${turnId}-${role}`, content: { type: 'text', text } }
}

export function asking(query: string, more: Partial<SearchRequest> = {}): SearchRequest {
  return { query, limit: 20, timeoutMs: 60_000, ...more }
}
