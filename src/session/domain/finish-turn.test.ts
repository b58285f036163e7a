/** An accepted prompt ends exactly once: how the next owner finishes a journal that was cut anywhere. */
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { account } from '../../../test/sim/account.ts'
import { live, replayed, wishes } from '../../../test/sim/wishes.ts'
import { decideBatch } from './decide.ts'
import { decodeEntry } from './entries.ts'
import { type State, isBusy } from './state.ts'

/** What kill -9 leaves after `cut` entries, and what the next owner adds before it serves anyone. */
function recover({ stored }: ReturnType<typeof live>, cut: number) {
  const before = replayed(stored.slice(0, cut))
  const { state, entries } = decideBatch([{ kind: 'halt' }], before, 1)
  return { before, state, entries: [...stored.slice(0, cut).map(decodeEntry), ...entries] }
}

function onlyWaited(state: State): boolean {
  if (state.phase === 'suspended') return true
  if (state.phase !== 'waiting' && state.phase !== 'working') return false
  const { calls, inputRequired } = state.turn
  const paused = Object.keys(inputRequired)
  const running = Object.entries(calls).filter(([id, status]) => status === 'in_progress' && !paused.includes(id))
  return running.length === 0 && (state.phase === 'waiting' || paused.length > 0)
}

function forEveryCut(check: (recovered: ReturnType<typeof recover>) => void): void {
  const everyCut = fc.property(wishes, (wishes) => {
    const life = live(wishes)
    for (let cut = 0; cut <= life.stored.length; cut += 1) check(recover(life, cut))
  })
  fc.assert(everyCut, { numRuns: 150 })
}

describe('recovery after a crash at any entry', () => {
  test('leaves no turn running; a turn that only waited for answers is suspended', () =>
    forEveryCut(({ before, state }) => {
      expect(isBusy(state)).toBe(onlyWaited(before))
      if (isBusy(state)) expect(state.phase).toBe('suspended')
    }))

  test('gives every accepted prompt one end, but for those of a suspended turn and its queue', () =>
    forEveryCut(({ state, entries }) => {
      const open = state.phase === 'suspended' ? [state.turn, ...state.queue].map(({ promptId }) => promptId) : []
      const { accepted, ends } = account(entries)
      for (const promptId of accepted)
        expect([promptId, ends(promptId)]).toEqual([promptId, open.includes(promptId) ? 0 : 1])
    }))

  test('leaves no tool call and no permission request open in a turn that has ended', () =>
    forEveryCut(({ state, entries }) => {
      const { openCalls, openQuestions } = account(entries)
      if (state.phase !== 'suspended')
        expect({ openCalls, openQuestions }).toEqual({ openCalls: [], openQuestions: [] })
    }))

  test('a second time adds no entry', () =>
    forEveryCut(({ state }) => expect(decideBatch([{ kind: 'halt' }], state, 1).entries).toEqual([])))
})

test('in every random history a prompt ends at most once, and a tool call is reported before it is patched', () => {
  const anyLife = fc.property(wishes, (wishes) => {
    const { accepted, ends, strays, leftOpen } = account(live(wishes).entries)
    expect(accepted).toEqual([...new Set(accepted)])
    for (const promptId of accepted) expect(ends(promptId)).toBeLessThanOrEqual(1)
    expect({ strays, leftOpen }).toEqual({ strays: [], leftOpen: [] })
  })
  fc.assert(anyLife, { numRuns: 200 })
})
