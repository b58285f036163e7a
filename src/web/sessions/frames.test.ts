/** How often a stream is drawn: once a frame, and less often where a frame costs much. */
import { expect, test } from 'vitest'
import { type FrameClock, OncePerFrame } from './frames.ts'

const FRAME_MS = 16

/** A device on which a drawing costs this much; frames come every 16 ms. */
class Device implements FrameClock {
  #now = 0
  #timers: { readonly at: number; readonly run: () => void }[] = []
  isShown = true
  readonly drawings: number[] = []
  readonly cost: number

  constructor(cost: number) {
    this.cost = cost
  }

  now(): number {
    return this.#now
  }

  atFrame(run: () => void): void {
    this.#timers.push({ at: (Math.floor(this.#now / FRAME_MS) + 1) * FRAME_MS, run })
  }

  after(ms: number, run: () => void): void {
    this.#timers.push({ at: this.#now + ms, run })
  }

  isVisible(): boolean {
    return this.isShown
  }

  draw(): void {
    this.drawings.push(this.#now)
    this.#now += this.cost
  }

  /** Something is wanted each millisecond for so long. */
  stream(frame: OncePerFrame, ms: number): void {
    for (const end = this.#now + ms; this.#now < end; this.#now += 1) {
      const due = this.#timers.filter(({ at }) => at <= this.#now)
      this.#timers = this.#timers.filter((timer) => !due.includes(timer))
      for (const { run } of due) run()
      frame.want()
    }
  }
}

function streamed(device: Device, ms: number): readonly number[] {
  device.stream(new OncePerFrame(() => device.draw(), device), ms)
  return device.drawings
}

test('what costs little is drawn in each frame, once', () => {
  expect(streamed(new Device(2), 1_000).length).toBe(62)
})

test.each([5, 20, 50])('drawing that takes %i ms takes about a fifth of the time', (cost) => {
  const device = new Device(cost)
  const share = (streamed(device, 5_000).length * cost) / 5_000
  expect(share).toBeLessThan(0.21)
  expect(share).toBeGreaterThan(0.1)
})

test('a very slow device draws all the same', () => {
  expect(streamed(new Device(400), 5_000).length).toBeGreaterThan(7)
})

test('what is wanted while a frame is drawn comes with a later one', () => {
  const device = new Device(0)
  const frame: OncePerFrame = new OncePerFrame(() => {
    device.draw()
    if (device.drawings.length === 1) frame.want()
  }, device)
  frame.want()
  device.stream({ want: () => undefined } as OncePerFrame, 100)
  expect(device.drawings.length).toBe(2)
})

test('a page that cannot be seen draws four times a second', () => {
  const device = new Device(1)
  device.isShown = false
  expect(streamed(device, 1_010).length).toBe(4)
})
