/**
 * A long list of which only the rows around the view are in the document. It alone writes the scroll position, in the frame in
 * which rows have changed their heights, and without easing.
 */
import { Component, type ComponentChildren, createRef } from 'preact'
import { MAX_ROWS, RowHeights, type RowSpan } from './row-heights.ts'
import { type Geometry, type Scroll, type ScrollEvent, type Stand, next } from './scroll-machine.ts'

export interface Placed {
  readonly key: string
}

/** Who shows the list. */
export interface RowListOwner {
  /** The list is mounted and can be scrolled. */
  ready(list: RowList): void
  row(index: number): ComponentChildren
  /** Where the reader is has changed; `below`: the first row that was not in view yet, if the end is not. */
  moved(state: Scroll, lastSeen: number): void
  /** The reader comes near the beginning of what is there, or wants the very first row. */
  towardsBegin(isWanted: boolean): void
}

interface Props {
  readonly rows: readonly Placed[]
  readonly owner: RowListOwner
  readonly label: string
  readonly begin: Scroll
  /** A row that was looked for. */
  readonly found: string | undefined
}

/** Rows from the beginning at which older ones are fetched. */
const NEAR_TOP = 30

export class RowList extends Component<Props, RowSpan> {
  readonly #view = createRef<HTMLDivElement>()
  readonly #heights = new RowHeights()
  readonly #mounted = new Map<string, HTMLElement>()
  readonly #observer = new ResizeObserver((entries) => this.#resized(entries))
  #scroll: Scroll
  /** As far as is known. */
  #stand: Stand = { top: 0, view: 0, total: 0 }
  #isGrabbed = false
  #width = 0
  #touchY = 0
  override state: RowSpan = { from: 0, to: 0 }

  constructor(props: Props) {
    super(props)
    this.#scroll = props.begin
    this.#heights.setKeys(props.rows.map(({ key }) => key))
    this.state = this.#scroll.kind === 'held' ? this.#endSpan() : this.#anchored(this.#endSpan())
  }

  get scroll(): Scroll {
    return this.#scroll
  }

  toEnd(): void {
    this.#scroll = { kind: 'held' }
    this.setState(this.#endSpan(), () => this.#step({ kind: 'to the end' }))
  }

  jump(key: string, offset = -80): void {
    const index = this.#heights.indexOf(key)
    if (index === -1) return
    // What is laid out meanwhile must not bring the view elsewhere.
    this.#scroll = { kind: 'jumping', key, offset }
    const from = Math.max(0, index - 20)
    this.setState({ from, to: Math.min(this.props.rows.length, from + MAX_ROWS / 2) }, () =>
      this.#step({ kind: 'jump', key, offset }),
    )
  }

  override componentDidMount(): void {
    const view = this.#view.current
    if (view === null) return
    this.#observer.observe(view)
    this.#settle()
    this.props.owner.ready(this)
  }

  override componentWillReceiveProps({ rows }: Props): void {
    if (rows === this.props.rows) return
    this.#heights.setKeys(rows.map(({ key }) => key))
    if (this.#scroll.kind === 'held') this.setState(this.#endSpan())
    // Where the end was in the document, what comes after it is so too.
    else this.setState(({ from, to }) => this.#anchored({ from, to: to === this.props.rows.length ? rows.length : to }))
  }

  override componentDidUpdate(): void {
    this.#settle()
  }

  override componentWillUnmount(): void {
    this.#observer.disconnect()
  }

  override render({ rows, owner, label, found }: Props, { from, to }: RowSpan) {
    const shown = rows.slice(from, to)
    return (
      <div
        class="rows"
        ref={this.#view}
        role="log"
        aria-live="off"
        aria-label={label}
        tabIndex={0}
        onScroll={this.#scrolled}
        onWheel={this.#wheeled}
        onKeyDown={this.#pressed}
        onFocusCapture={this.#focused}
        onPointerDown={this.#grabbed}
        onTouchStart={this.#touched}
        onTouchMove={this.#dragged}
      >
        <div class="room" style={{ height: `${this.#heights.topOf(from)}px` }} />
        {shown.map(({ key }, index) => (
          <div
            key={key}
            data-row={key}
            class={key === found ? 'row found' : 'row'}
            ref={(element: HTMLElement | null) => this.#placed(key, element)}
          >
            {owner.row(from + index)}
          </div>
        ))}
        <div class="room" style={{ height: `${Math.max(0, this.#heights.total - this.#heights.topOf(to))}px` }} />
      </div>
    )
  }

  #placed(key: string, element: HTMLElement | null): void {
    const before = this.#mounted.get(key)
    if (before !== undefined && before !== element) this.#observer.unobserve(before)
    if (element === null) this.#mounted.delete(key)
    else if (before !== element) {
      this.#mounted.set(key, element)
      this.#observer.observe(element)
    }
  }

  /** Comes after layout and before the frame is painted. */
  #resized(entries: readonly ResizeObserverEntry[]): void {
    if (entries.length > 0) this.#settle()
  }

  /** Measures what is there, and brings the view to where it belongs. */
  #settle(): void {
    const view = this.#view.current
    if (view === null) return
    let isNews = view.clientWidth !== this.#width
    this.#width = view.clientWidth
    for (const [key, element] of this.#mounted)
      isNews = this.#heights.measured(key, element.getBoundingClientRect().height) || isNews
    this.#fitRooms()
    this.#step({ kind: 'laid out', isStill: !isNews })
    this.#showAround()
  }

  /** The heights above and below stand for rows that are not there. */
  #fitRooms(): void {
    const view = this.#view.current
    const { from, to } = this.state
    const [above, below] = [view?.firstElementChild, view?.lastElementChild] as readonly (HTMLElement | undefined)[]
    if (above !== undefined) above.style.height = `${this.#heights.topOf(from)}px`
    if (below !== undefined) below.style.height = `${Math.max(0, this.#heights.total - this.#heights.topOf(to))}px`
  }

  #step(event: ScrollEvent): void {
    const view = this.#view.current
    if (view === null) return
    const before = this.#scroll
    const { state, top } = next(before, event, this.#geometry(view))
    this.#scroll = state
    if (top !== undefined) view.scrollTop = top
    // Also where the browser has moved it, as when the view became higher at the end: that was not the reader.
    if (top !== undefined || (event.kind === 'laid out' && state.kind === 'held')) this.#stand = standOf(view)
    if (event.kind !== 'laid out' || state.kind !== before.kind) this.#tell(view)
  }

  #tell(view: HTMLElement): void {
    const last = this.#heights.at(view.scrollTop + view.clientHeight)
    this.props.owner.moved(this.#scroll, last)
  }

  #geometry(view: HTMLElement): Geometry {
    const heights = this.#heights
    const index = heights.at(view.scrollTop)
    return {
      ...standOf(view),
      first: { key: heights.keys[index] ?? '', top: heights.topOf(index) },
      topOf: (key) => {
        const at = heights.indexOf(key)
        return at === -1 ? undefined : heights.topOf(at)
      },
    }
  }

  #showAround(): void {
    const view = this.#view.current
    if (view === null) return
    const wanted = this.#heights.span(view.scrollTop, view.clientHeight)
    const { from, to } = this.state
    const first = this.#heights.at(view.scrollTop)
    const last = this.#heights.at(view.scrollTop + view.clientHeight)
    const isThere = from <= Math.max(0, first - 2) && to >= Math.min(this.props.rows.length, last + 2)
    if (!isThere || to - from > MAX_ROWS) this.setState(wanted)
    if (from < NEAR_TOP && first < NEAR_TOP) this.props.owner.towardsBegin(false)
  }

  /** The end, and a view and a half above it. */
  #endSpan(): RowSpan {
    return this.#heights.endSpan(this.#view.current?.clientHeight ?? innerHeight)
  }

  /** After rows came or went: around the row that the reader holds. */
  #anchored({ from, to }: RowSpan): RowSpan {
    const count = this.#heights.keys.length
    const index = this.#scroll.kind === 'held' ? -1 : this.#heights.indexOf(this.#scroll.key)
    if (index === -1) return { from: Math.min(from, Math.max(0, count - 10)), to: Math.min(to, count) }
    if (index >= from && index < to - (to < count ? 10 : 0)) return { from, to: Math.min(to, count) }
    const begin = Math.max(0, index - 30)
    return { from: begin, to: Math.min(count, begin + 80) }
  }

  readonly #scrolled = (): void => this.#moved(this.#isGrabbed)

  #moved(isGrabbed: boolean): void {
    const view = this.#view.current
    if (view === null || view.scrollTop === this.#stand.top) return
    const before = this.#stand
    this.#stand = standOf(view)
    this.#step({ kind: 'scrolled', before, isGrabbed })
    this.#showAround()
  }

  readonly #wheeled = ({ deltaY, ctrlKey: isZoom }: WheelEvent): void => {
    if (deltaY < 0 && !isZoom) this.#step({ kind: 'pulled up' })
  }

  readonly #pressed = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    // A field in a row keeps its keys, and a button the space.
    const isOnList = event.target === this.#view.current
    const isInField = (event.target as Element).matches('input, select, textarea')
    if (
      ['ArrowUp', 'PageUp', 'Home'].includes(event.key) ? !isInField : isOnList && event.key === ' ' && event.shiftKey
    )
      this.#step({ kind: 'pulled up' })
    if (!isOnList) return
    if (event.key === 'End') {
      event.preventDefault()
      this.toEnd()
    }
    if (event.key === 'Home') {
      event.preventDefault()
      this.props.owner.towardsBegin(true)
    }
  }

  /** The keyboard goes to what is above the view, and the browser has brought it into view. */
  readonly #focused = ({ target }: FocusEvent): void => {
    if (target instanceof Element && target.matches(':focus-visible')) this.#moved(true)
  }

  /** A menu swallows the end of another button. */
  readonly #grabbed = ({ button }: PointerEvent): void => {
    if (button !== 0) return
    this.#isGrabbed = true
    for (const end of ['pointerup', 'pointercancel'] as const) addEventListener(end, this.#released, { once: true })
  }

  readonly #released = (): void => {
    this.#isGrabbed = false
  }

  readonly #touched = ({ touches }: TouchEvent): void => {
    this.#touchY = touches[0]?.clientY ?? 0
  }

  readonly #dragged = ({ touches }: TouchEvent): void => {
    const y = touches[0]?.clientY ?? 0
    if (y > this.#touchY) this.#step({ kind: 'pulled up' })
    this.#touchY = y
  }
}

function standOf({ scrollTop, clientHeight, scrollHeight }: HTMLElement): Stand {
  return { top: scrollTop, view: clientHeight, total: scrollHeight }
}
