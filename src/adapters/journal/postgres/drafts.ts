/** Sessions that are made from many entries, by a fork or an import. They are invisible until the last statement completes them. */
import { fail, isParleyError } from '../../../errors/parley-error.ts'
import type { Append, Cursor, SessionId, SessionSummary, StoredEntry } from '../../../ports/journal.ts'
import { checkAppend } from '../journal-base.ts'
import { bigints, texts } from './tables/arrays.ts'
import { packBody } from './tables/body.ts'
import { NotMade, type Shard } from './shard.ts'

const APPEND_LIMIT = { entries: 2_000, chars: 1024 * 1024 }

/** Copies inside one database, in pieces between which others append. */
export async function forkWithin(shard: Shard, source: SessionId, append: Append): Promise<void> {
  const { expected: until } = append
  const from = await shard.key(source)
  const head = from === undefined ? undefined : await shard.stored(source)
  const found = head?.row.lastSeq ?? 0
  if (from === undefined || found < until) return failFork(source, until, found)
  await withDraft(shard, async (draft) => {
    let copied = await copyRows(shard, { from, draft, until })
    // The row in the middle of which the copy ends, and those that were packed meanwhile.
    while (copied < until) {
      const entries = Math.min(APPEND_LIMIT.entries, until - copied)
      const rest = await shard.page(source, copied, { ...APPEND_LIMIT, entries })
      if (rest.length === 0) return failFork(source, until, 0)
      await fill(shard, draft, rest)
      copied += rest.length
    }
    await finish(shard, { append, key: draft, source: { id: source, key: from } })
  })
}

/** Answers the row of the session, once it exists. Only its end says what it is, and with it in which database it belongs. */
export async function importInto(shard: Shard, { pieces, last, placeOf }: Import): Promise<SessionSummary> {
  return withDraft(shard, async (draft) => {
    for await (const entries of pieces) await fill(shard, draft, entries)
    const append = last()
    checkAppend(append)
    const place = placeOf(append.row.id)
    if (place === shard) await finish(shard, { append, key: draft })
    else {
      await moveDraft(shard, draft, { to: place, append })
      await abandon(shard, draft)
    }
    return append.row
  })
}

interface Import {
  readonly pieces: AsyncIterable<readonly StoredEntry[]>
  readonly last: () => Append
  readonly placeOf: (id: SessionId) => Shard
}

interface Move {
  readonly to: Shard
  readonly append: Append
}

async function moveDraft(from: Shard, key: string, { to, append }: Move): Promise<void> {
  const { expected: until, row } = append
  await withDraft(to, async (draft) => {
    for (let cursor = 0; cursor < until;) {
      const entries = await from.pageOf({ id: row.id, key }, cursor, APPEND_LIMIT)
      if (entries.length === 0) return failFork(row.id, until, cursor)
      await fill(to, draft, entries)
      cursor += entries.length
    }
    return finish(to, { append, key: draft })
  })
}

/** Through this process, into another database. */
export async function forkAcross(from: Shard, source: SessionId, { to, append }: Move): Promise<void> {
  const { expected: until } = append
  const head = await from.stored(source)
  if (head === undefined || head.row.lastSeq < until) return failFork(source, until, head?.row.lastSeq ?? 0)
  await withDraft(to, async (draft) => {
    for (let cursor = 0; cursor < until;) {
      const entries = await from.page(source, cursor, {
        ...APPEND_LIMIT,
        entries: Math.min(APPEND_LIMIT.entries, until - cursor),
      })
      if (entries.length === 0) return failFork(source, until, cursor)
      await fill(to, draft, entries)
      cursor += entries.length
    }
    if ((await from.stored(source))?.key !== head.key) return failFork(source, until, 0)
    await finish(to, { append, key: draft })
  })
}

interface Copy {
  readonly from: string
  readonly draft: string
  readonly until: Cursor
}

/** Answers how far the whole rows reach. */
async function copyRows(shard: Shard, { from, draft, until }: Copy): Promise<Cursor> {
  let copied = 0
  for (;;) {
    const { rows } = await shard.once(shard.statements.copy, [from, draft, copied, until])
    const last = Number(rows[0]?.[0] ?? 0)
    if (last === 0) return copied
    copied = last
  }
}

async function fill(shard: Shard, draft: string, entries: readonly StoredEntry[]): Promise<void> {
  const pieces: (readonly StoredEntry[])[] = []
  for (let start = 0; start < entries.length; start += APPEND_LIMIT.entries)
    pieces.push(entries.slice(start, start + APPEND_LIMIT.entries))
  if (pieces.length === 0) return
  await shard.once(shard.statements.fill, [
    draft,
    bigints(pieces.map((piece) => piece[0]?.seq ?? 0)),
    bigints(pieces.map((piece) => piece.length)),
    bigints(pieces.map((piece) => piece.at(-1)?.at ?? 0)),
    texts(pieces.map(packBody)),
  ])
}

interface Finish {
  readonly append: Append
  readonly key: string
  readonly source?: { readonly id: SessionId; readonly key: string }
}

async function finish(shard: Shard, { append, key, source }: Finish): Promise<void> {
  try {
    await shard.create(append, { key, ...(source !== undefined && { source: source.key }) })
  } catch (error) {
    if (!(error instanceof NotMade)) throw error
    if (source !== undefined && (await shard.stored(source.id))?.key !== source.key)
      failFork(source.id, append.expected, 0)
    return failTaken(shard, append.row.id, key)
  }
}

/** What was written after the draft was cleared away is cleared away too. */
async function failTaken(shard: Shard, id: SessionId, draft: string): Promise<never> {
  // Where its row is still there, it is enough.
  await shard.once(shard.statements.draft, [draft, shard.clock.now(), null]).catch(() => undefined)
  const reason = `another node began to serve while session ${id} was written, so the session was not made; try again`
  return fail('JOURNAL_IO', { path: shard.shown, reason })
}

/** A draft that came to nothing is cleared away like a deleted session; that of a process that died, by another one. */
async function withDraft<Result>(shard: Shard, use: (draft: string) => Promise<Result>): Promise<Result> {
  const draft = shard.newKey()
  await shard.once(shard.statements.draft, [draft, shard.clock.now(), shard.boot])
  try {
    return await use(draft)
  } catch (error) {
    await abandon(shard, draft)
    throw error
  }
}

async function abandon(shard: Shard, draft: string): Promise<void> {
  try {
    await shard.write(shard.statements.abandon, [draft])
  } catch (error) {
    // Once this process is gone others clear it away.
    if (!isParleyError(error)) throw error
  }
}

function failFork(source: SessionId, expected: number, found: number): never {
  return fail('JOURNAL_CONFLICT', { session: source, expected, found })
}
