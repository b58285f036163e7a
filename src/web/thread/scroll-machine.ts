/**
 * Who decides where a conversation stands: its end (`held`), its reader (`free`), or a jump to a row. Pure: states × events.
 *
 *     held ──the reader goes up──▶ free ──the end is reached, or wanted──▶ held
 *       └──jump──▶ jumping ──the row stands──▶ free
 */

export type Scroll =
  /** The end stays in view. */
  | { readonly kind: 'held' }
  /** The top of this row stays this far below the top of the view. */
  | { readonly kind: 'free'; readonly key: string; readonly offset: number }
  /** The row is brought there as soon as it is known how high those above are. */
  | { readonly kind: 'jumping'; readonly key: string; readonly offset: number }

/** What stands where. */
export interface Geometry {
  readonly top: number
  readonly view: number
  readonly total: number
  /** The first row that can be seen. */
  readonly first: { readonly key: string; readonly top: number }
  /** The top of a row; undefined when it is gone. */
  topOf(key: string): number | undefined
}

export type ScrollEvent =
  /** The scroll position has changed; `before` is where it was when it was last known. */
  | { readonly kind: 'scrolled'; readonly before: number }
  /** A wheel, a key, a finger goes up. */
  | { readonly kind: 'pulled up' }
  | { readonly kind: 'to the end' }
  | { readonly kind: 'jump'; readonly key: string; readonly offset: number }
  /** Rows have grown, shrunk, come, gone, or the view has another size. */
  | { readonly kind: 'laid out'; readonly isStill: boolean }

export interface Next {
  readonly state: Scroll
  /** Where the view must stand now; undefined: where it is. */
  readonly top: number | undefined
}

/** Within this of the end counts as the end. */
const NEAR = 1

export function next(state: Scroll, event: ScrollEvent, geometry: Geometry): Next {
  switch (event.kind) {
    case 'scrolled':
      return { state: scrolled(state, event.before, geometry), top: undefined }
    case 'pulled up':
      // There is nowhere to go up to, so nothing was left.
      return { state: state.kind === 'held' && geometry.top > 0 ? free(geometry) : state, top: undefined }
    case 'to the end':
      return { state: { kind: 'held' }, top: endOf(geometry) }
    case 'jump':
      return placed({ kind: 'jumping', key: event.key, offset: event.offset }, geometry)
    case 'laid out':
      return event.isStill && state.kind === 'jumping'
        ? { ...placed(state, geometry), state: { ...state, kind: 'free' } }
        : placed(state, geometry)
  }
}

function scrolled(state: Scroll, before: number, geometry: Geometry): Scroll {
  if (state.kind === 'jumping') return state
  const isAtEnd = endOf(geometry) - geometry.top <= NEAR
  if (state.kind === 'held') return isAtEnd || geometry.top >= before - NEAR ? state : free(geometry)
  // A reader near the end who does not scroll down has not asked to follow.
  return isAtEnd && geometry.top > before ? { kind: 'held' } : free(geometry)
}

function free({ first, top }: Geometry): Scroll {
  return { kind: 'free', key: first.key, offset: first.top - top }
}

function placed(state: Scroll, geometry: Geometry): Next {
  const wanted = state.kind === 'held' ? endOf(geometry) : wantedTop(state, geometry)
  if (wanted === undefined) return { state: free(geometry), top: undefined }
  const top = Math.max(0, Math.min(wanted, endOf(geometry)))
  return { state, top: Math.abs(top - geometry.top) < 0.5 ? undefined : top }
}

function wantedTop(
  { key, offset }: Exclude<Scroll, { readonly kind: 'held' }>,
  geometry: Geometry,
): number | undefined {
  const top = geometry.topOf(key)
  return top === undefined ? undefined : top - offset
}

function endOf({ total, view }: Geometry): number {
  return Math.max(0, total - view)
}
