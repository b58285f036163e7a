/** How many entries a second the SQLite journal makes durable, and what one fdatasync costs on the same disk. */
import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqliteJournal } from '../src/adapters/journal/sqlite/sqlite-journal.ts'
import type { Append, Journal } from '../src/ports/journal.ts'

const workerUrl = new URL('../dist/journal-worker.cjs', import.meta.url)
const batch = 100

export interface JournalFigures {
  /** Entries a second, each session appending its next batch of 100 when the one before is durable. */
  readonly oneSession: number
  readonly fiftySessions: number
  /** The floor: plain appends of the same bytes to a file, a fdatasync after each batch. */
  readonly plainFile: number
}

/** Measures in a directory of its own under `parent`, and clears it away. The worker must have been built. */
export async function measureJournal(entries = 100_000, parent = tmpdir()): Promise<JournalFigures> {
  const directory = await mkdtemp(join(parent, 'parley-bench-'))
  const journal = await openSqliteJournal({ directory, workerUrl })
  try {
    await fill(journal, 'warm', entries / 10)
    const oneSession = await measure(entries, () => fill(journal, 'one', entries))
    const many = Array.from({ length: 50 }, (_, index) => `many-${index}`)
    const fiftySessions = await measure(entries, () => Promise.all(many.map((id) => fill(journal, id, entries / 50))))
    const plainFile = await measure(entries, () => writePlainly(join(directory, 'plain'), entries))
    return { oneSession, fiftySessions, plainFile }
  } finally {
    await journal.close()
    await rm(directory, { recursive: true, force: true })
  }
}

async function measure(entries: number, run: () => unknown): Promise<number> {
  const start = performance.now()
  await run()
  return Math.round((entries / (performance.now() - start)) * 1000)
}

async function fill(journal: Journal, id: string, entries: number): Promise<void> {
  for (let seq = 0; seq < entries; seq += batch) await journal.append(appendAfter(id, seq))
}

function appendAfter(id: string, expected: number): Append {
  const lastSeq = expected + batch
  const entries = Array.from({ length: batch }, (_, index) => ({ seq: expected + index + 1, at: lastSeq, body }))
  const row = {
    id,
    cwd: '/home/ada',
    additionalDirectories: [],
    agent: 'guide',
    title: null,
    phase: 'working',
  } as const
  return { row: { ...row, lastSeq, createdAt: 0, updatedAt: lastSeq }, entries, expected }
}

/** About as long as a chunk of a message with its ids. */
const body = JSON.stringify({ kind: 'message chunk', messageId: 'm'.repeat(36), content: { text: 'x'.repeat(180) } })

function writePlainly(path: string, entries: number): void {
  const descriptor = openSync(path, 'w')
  const bytes = `${body}\n`.repeat(batch)
  for (let seq = 0; seq < entries; seq += batch) {
    writeSync(descriptor, bytes)
    fdatasyncSync(descriptor)
  }
  closeSync(descriptor)
}
