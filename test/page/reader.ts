/** What somebody who looks at a conversation sees: where it stands, measured in frames as they were painted. */
import type { Page } from 'playwright-core'

export interface Sight {
  /** How far the end is below the view, at most, in any frame. */
  readonly awayFromEnd: number
  /** How far the row that was seen first has moved, at most. */
  readonly moved: number
  readonly frames: number
}

/** Watches until a text is somewhere in the page. */
export async function watchUntil(page: Page, text: string): Promise<Sight> {
  return page.evaluate(async (text) => {
    const view = document.querySelector('.rows')
    if (view === null) throw new Error('no conversation is shown')
    const top = view.getBoundingClientRect().top
    const rows = [...view.querySelectorAll<HTMLElement>('.row')]
    const first = rows.find((row) => row.getBoundingClientRect().bottom > top)
    const key = first?.dataset['row'] ?? ''
    const before = first?.getBoundingClientRect().top ?? 0
    let [awayFromEnd, moved, frames] = [0, 0, 0]
    const painted = (): Promise<void> =>
      new Promise((resolve) =>
        requestAnimationFrame(() => {
          const channel = new MessageChannel()
          channel.port1.onmessage = () => resolve()
          channel.port2.postMessage(null)
        }),
      )
    for (;;) {
      await painted()
      frames += 1
      awayFromEnd = Math.max(awayFromEnd, view.scrollHeight - view.clientHeight - view.scrollTop)
      const now = view.querySelector(`[data-row="${CSS.escape(key)}"]`)?.getBoundingClientRect().top
      moved = Math.max(moved, now === undefined ? 9_999 : Math.abs(now - before))
      if (document.body.innerText.includes(text)) break
    }
    return { awayFromEnd, moved, frames }
  }, text)
}

/** Once nothing moves any more: a browser scrolls over several frames, and rows are measured when they come. */
export function still(page: Page): Promise<void> {
  return page.evaluate(async () => {
    const view = document.querySelector('.rows')
    if (view === null) throw new Error('no conversation is shown')
    for (let [top, frames] = [view.scrollTop, 0]; frames < 6; frames += 1) {
      await new Promise((resolve) => requestAnimationFrame(resolve))
      if (view.scrollTop === top) continue
      top = view.scrollTop
      frames = 0
    }
  })
}

/** How far the end is below the view. */
export function awayFromEnd(page: Page): Promise<number> {
  return page.evaluate(() => {
    const view = document.querySelector('.rows')
    return view === null ? -1 : view.scrollHeight - view.clientHeight - view.scrollTop
  })
}

/** The row at the top of the view, and where it is. */
export function firstSeen(page: Page): Promise<{ readonly key: string; readonly top: number }> {
  return page.evaluate(() => {
    const view = document.querySelector('.rows')
    const top = view?.getBoundingClientRect().top ?? 0
    const row = [...document.querySelectorAll<HTMLElement>('.row')].find(
      (one) => one.getBoundingClientRect().bottom > top,
    )
    return { key: row?.dataset['row'] ?? '', top: (row?.getBoundingClientRect().top ?? 0) - top }
  })
}
