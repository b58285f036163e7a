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

/** The scroll position, and the heights of the view and of all rows. */
export interface Stand {
  readonly top: number
  readonly view: number
  readonly total: number
}

/** What stands where. */
export interface Geometry extends Stand {
  /** The first row that can be seen. */
  readonly first: { readonly key: string; readonly top: number }
  /** The top of a row; undefined when it is gone. */
  topOf(key: string): number | undefined
}

export type ScrollEvent =
  /** The scroll position has changed; `before` is what was last known, and a grabbed list has a pointer down on it or its scrollbar. */
  | { readonly kind: 'scrolled'; readonly before: Stand; readonly isGrabbed: boolean }
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
      return scrolled(state, event, geometry)
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

function scrolled(
  state: Scroll,
  { before, isGrabbed }: ScrollEvent & { readonly kind: 'scrolled' },
  geometry: Geometry,
): Next {
  const isAtEnd = endOf(geometry) - geometry.top <= NEAR
  switch (state.kind) {
    case 'jumping':
      return { state, top: undefined }
    case 'held': {
      if (isAtEnd || geometry.top >= before.top - NEAR) return { state, top: undefined }
      // A browser also moves a view up when it becomes higher, and says so only when it may be lower again.
      const isLayout = geometry.view !== before.view || geometry.total !== before.total
      return isLayout && !isGrabbed ? placed(state, geometry) : { state: free(geometry), top: undefined }
    }
    case 'free':
      // A reader near the end who does not scroll down has not asked to follow.
      return { state: isAtEnd && geometry.top > before.top ? { kind: 'held' } : free(geometry), top: undefined }
  }
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
