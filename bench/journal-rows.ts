/** Fills a journal through its adapter, with what a turn of short chunks leaves there. */
import type { Append, Journal } from '../src/ports/journal.ts'

export const workerUrl = new URL('../dist/journal-worker.cjs', import.meta.url)

/** `count` chunks after `expected`. The first entry of a session says what it is. */
export function appendOf(id: string, expected: number, count: number): Append {
  const lastSeq = expected + count
  const entries = Array.from({ length: count }, (_, index) => {
    const seq = expected + index + 1
    return { seq, at: lastSeq, body: seq === 1 ? created : chunk(seq) }
  })
  return { row: rowOf(id, lastSeq), entries, expected }
}

function rowOf(id: string, lastSeq: number): Append['row'] {
  const row = {
    id,
    cwd: '/',
    additionalDirectories: [],
    agent: 'script',
    title: null,
    phase: 'idle',
    createdAt: 0,
  } as const
  return { ...row, lastSeq, updatedAt: lastSeq }
}

const created = JSON.stringify({
  kind: 'session_created',
  format: 1,
  cwd: '/',
  additionalDirectories: [],
  agent: 'script',
})

/** Every tenth entry is one that cannot be merged with its neighbours. */
function chunk(seq: number): string {
  if (seq % 10 === 0) {
    const call = { title: 'Looks', kind: 'search', status: 'completed' }
    return JSON.stringify({ kind: 'tool_call', toolCallId: `c${seq}`, call })
  }
  const content = { type: 'text', text: `and ${seq} more words ` }
  return JSON.stringify({ kind: 'message_chunk', role: 'agent', messageId: `t1-m${Math.ceil(seq / 10)}`, content })
}

export interface Filling {
  readonly sessions: number
  readonly entriesEach: number
}

/** Many sessions at once, a thousand entries at a time. */
export async function fill(journal: Journal, { sessions, entriesEach }: Filling): Promise<readonly string[]> {
  const ids = Array.from({ length: sessions }, (_, index) => `session-${index}`)
  for (let at = 0; at < ids.length; at += 50) {
    await Promise.all(ids.slice(at, at + 50).map((id) => fillOne(journal, id, entriesEach)))
  }
  return ids
}

async function fillOne(journal: Journal, id: string, entries: number): Promise<void> {
  for (let seq = 0; seq < entries; seq += 1_000) await journal.append(appendOf(id, seq, Math.min(1_000, entries - seq)))
}
