/** A part of a conversation as the answer to `_parley/page`: the updates that a load would send, with their places. */
import type { SessionPage } from '../../../../session/handle.ts'
import type { DisplayCapabilities } from '../initialize/client-capabilities.ts'
import { type Update, hiddenInReplay, updateOf } from './entry-to-update.ts'
import { type PlaceMeta, PlacedEntries, type ResolvedPermission } from './places.ts'

export interface PageOut {
  /** The `params` of `session/update`. */
  readonly updates: readonly { readonly sessionId: string; readonly update: Update; readonly _meta: PlaceMeta }[]
  readonly resolved: readonly ResolvedPermission[]
  readonly from: number
  readonly more: boolean
}

export function pageOut(
  sessionId: string,
  { entries, from, more, turn }: SessionPage,
  display: DisplayCapabilities,
): PageOut {
  const places = new PlacedEntries(turn)
  const hidden = hiddenInReplay(entries)
  const placed = entries.map((entry) => ({ entry, _meta: places.next(entry) }))
  const updates = placed.flatMap(({ entry, _meta }) => {
    const update = hidden.has(entry) ? undefined : updateOf(entry, display)
    return update === undefined ? [] : [{ sessionId, update, _meta }]
  })
  return { updates, resolved: entries.flatMap((entry) => places.resolved(entry) ?? []), from, more }
}
