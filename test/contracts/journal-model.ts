/** A story of calls to a journal, told to the journal and to plain arrays at once: both must end with the same. */
import * as fc from 'fast-check'
import { expect } from 'vitest'
import type { Journal, StoredEntry } from '../../src/ports/journal.ts'
import { appendOf, entriesOf, type Followed, followed, wide } from './journal-words.ts'

type Step =
  | { readonly kind: 'append'; readonly session: number; readonly count: number; readonly off: number }
  | { readonly kind: 'page'; readonly session: number; readonly from: number; readonly entries: number }
  | { readonly kind: 'read'; readonly session: number; readonly from: number }
  | { readonly kind: 'delete'; readonly session: number }
  | { readonly kind: 'settle' }

const session = fc.nat({ max: 3 })

/** Few sessions and many steps, so that they meet; now and then a writer that is behind or ahead. */
export const stepsOf: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        kind: fc.constant('append' as const),
        session,
        count: fc.nat({ max: 4 }),
        off: fc.oneof(
          { weight: 6, arbitrary: fc.constant(0) },
          { weight: 1, arbitrary: fc.integer({ min: 1, max: 2 }) },
        ),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant('page' as const),
        session,
        from: fc.nat({ max: 8 }),
        entries: fc.integer({ min: 1, max: 5 }),
      }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('read' as const), session, from: fc.nat({ max: 4 }) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), session }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('settle' as const) }) },
  ),
  { minLength: 5, maxLength: 60 },
)

interface Model {
  /** Entries that the journal has accepted, by session; calls may still be on their way. */
  readonly lengths: Map<string, number>
  readonly pending: Promise<unknown>[]
  readonly readers: {
    readonly id: string
    readonly from: number
    readonly seen: Followed
    readonly stop: AbortController
  }[]
}

export async function runAgainstModel(journal: Journal, story: string, steps: readonly Step[]): Promise<void> {
  const model: Model = { lengths: new Map(), pending: [], readers: [] }
  for (const step of steps) await play(journal, { story, step, model })
  await settle(model)
  for (const [id, length] of model.lengths) {
    expect(await journal.page(id, 0, wide)).toEqual(entriesOf(id, 0, length))
    expect((await journal.head(id))?.row.lastSeq ?? 0).toBe(length)
  }
  for (const { id, from, seen } of model.readers) await seen.until(Math.max(0, (model.lengths.get(id) ?? 0) - from))
  for (const { stop } of model.readers) stop.abort()
  for (const { id, from, seen } of model.readers) {
    expect(await seen.ended).toEqual(entriesOf(id, from, Math.max(0, (model.lengths.get(id) ?? 0) - from)))
  }
}

interface Scene {
  readonly story: string
  readonly step: Step
  readonly model: Model
}

async function play(journal: Journal, { story, step, model }: Scene): Promise<void> {
  if (step.kind === 'settle') return settle(model)
  const id = `${story}-${step.session}`
  switch (step.kind) {
    case 'append':
      model.pending.push(append(journal, model, { id, count: step.count, off: step.off }))
      return undefined
    case 'page': {
      await settle(model)
      const page = await journal.page(id, step.from, { entries: step.entries, chars: 1e9 })
      const left = Math.max(0, (model.lengths.get(id) ?? 0) - step.from)
      return expect(page).toEqual(entriesOf(id, step.from, Math.min(left, step.entries)))
    }
    case 'read': {
      const stop = new AbortController()
      const seen = followed(journal.read(id, step.from, stop.signal))
      model.readers.push({ id, from: step.from, seen, stop })
      return undefined
    }
    case 'delete':
      return forget(journal, model, id)
  }
}

/** Not awaited by the story: the next steps come while it is on its way. */
function append(
  journal: Journal,
  model: Model,
  { id, count, off }: { readonly id: string; readonly count: number; readonly off: number },
): Promise<unknown> {
  const known = model.lengths.get(id) ?? 0
  const answer = journal.append(appendOf(id, known + off, count))
  if (off !== 0) return expect(answer).rejects.toMatchObject({ code: 'JOURNAL_CONFLICT', details: { found: known } })
  model.lengths.set(id, known + count)
  return answer
}

/** The readers of a deleted session end with what they saw, which is a beginning of what there was. */
async function forget(journal: Journal, model: Model, id: string): Promise<void> {
  await settle(model)
  const length = model.lengths.get(id)
  expect(await journal.delete(id)).toBe(length !== undefined)
  if (length === undefined) return
  model.lengths.delete(id)
  for (const reader of model.readers.splice(0).filter((one) => keep(model, one, id))) {
    const seen: readonly StoredEntry[] = await reader.seen.ended
    expect(seen).toEqual(entriesOf(id, reader.from, seen.length))
    expect(seen.length).toBeLessThanOrEqual(Math.max(0, length - reader.from))
  }
}

/** Keeps a reader of another session in the model; true for one of the deleted session. */
function keep(model: Model, reader: Model['readers'][number], deleted: string): boolean {
  if (reader.id === deleted) return true
  model.readers.push(reader)
  return false
}

async function settle(model: Model): Promise<void> {
  await Promise.all(model.pending.splice(0))
}
