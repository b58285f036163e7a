/** What every ownership must keep: one owner at a time, whoever tries and however it ends. */
import { expect, test } from 'vitest'
import type { AcquireOwnership, Ownership } from '../../src/ports/ownership.ts'

export interface OwnedState {
  readonly acquire: AcquireOwnership
  /** Takes the state away from this owner behind its back, as a crash of what holds it would. */
  readonly takeAway: (owner: Ownership) => Promise<void>
  readonly clear: () => Promise<void>
}

export function ownershipContract(open: () => Promise<OwnedState>): void {
  test('a second owner is refused, and the first keeps the state', () =>
    withState(open, async ({ acquire }) => {
      const owner = await acquire()
      await expect(acquire()).rejects.toMatchObject({ code: 'STATE_IN_USE', details: { pid: process.pid } })
      expect(owner.lost.aborted).toBe(false)
      await owner.release()
    }))

  test('what was released can be owned again, and was not lost', () =>
    withState(open, async ({ acquire }) => {
      const first = await acquire()
      await Promise.all([first.release(), first.release()])
      const second = await acquire()
      await first.release()
      expect([first.lost.aborted, second.lost.aborted]).toEqual([false, false])
      await expect(acquire()).rejects.toMatchObject({ code: 'STATE_IN_USE' })
      await second.release()
    }))

  test('of many that try at once exactly one owns', () =>
    withState(open, async ({ acquire }) => {
      const tries = await Promise.allSettled(Array.from({ length: 5 }, acquire))
      const owners = tries.flatMap((tried) => (tried.status === 'fulfilled' ? [tried.value] : []))
      expect(owners).toHaveLength(1)
      await owners[0]?.release()
    }))

  test('an owner that loses the state hears of it, and another can own it', () =>
    withState(open, async ({ acquire, takeAway }) => {
      const owner = await acquire()
      let times = 0
      owner.lost.addEventListener('abort', () => (times += 1))
      await takeAway(owner)
      await expect.poll(() => owner.lost.aborted).toBe(true)
      expect(times).toBe(1)
      const next = await acquire()
      await owner.release()
      await expect(acquire()).rejects.toMatchObject({ code: 'STATE_IN_USE' })
      await next.release()
    }))
}

async function withState(open: () => Promise<OwnedState>, use: (state: OwnedState) => Promise<void>): Promise<void> {
  const state = await open()
  try {
    await use(state)
  } finally {
    await state.clear()
  }
}
