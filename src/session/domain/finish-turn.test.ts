/** An accepted prompt ends exactly once: how the next owner finishes a journal that was cut anywhere. */
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { account } from '../../../test/sim/account.ts'
import { given } from '../../../test/sim/given.ts'
import { live, replayed, wishes } from '../../../test/sim/wishes.ts'
import * as say from '../../../test/sim/words.ts'
import type { Command } from './commands.ts'
import { decideBatch } from './decide.ts'
import { type Body, type TurnEnd, decodeEntry } from './entries.ts'
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

const working = [say.created, say.accepted('p1', 'x'), say.turnStarted(1, 'p1')]
const compacting = (compactionId: string, status: 'in_progress' | 'completed' | 'failed' | 'cancelled'): Body => ({
  kind: 'compaction',
  compactionId,
  patch: { status },
})
const begun = [...working, compacting('k1', 'completed'), compacting('k2', 'in_progress')]

test.each<[when: string, 'failed' | 'cancelled', readonly Body[], Command, TurnEnd]>([
  ['its turn ends', 'failed', begun, say.ends(1), 'end_turn'],
  ['its turn is cancelled', 'cancelled', [...begun, say.cancelRequested(1)], say.ends(1), 'cancelled'],
  ['the server stops', 'failed', begun, say.halt, 'interrupted'],
])('when %s, a compaction that has not ended is %s', (_when, status, ...[past, command, stopReason]) =>
  given(...past)
    .when(command)
    .then(compacting('k2', status), say.ended(1, 'p1', stopReason)),
)

test('only a turn that was cancelled says by whom', () => {
  const by = 'Ada'
  const end = (past: readonly Body[], command: Command) => given(...past).when(command).happened
  const cancelled = { bodies: [{ ...say.ended(1, 'p1', 'cancelled'), by }] }
  expect(end(working, { ...say.ends(1, 'cancelled'), by } as Command)).toStrictEqual(cancelled)
  expect(end([...working, { ...say.cancelRequested(1), by } as Body], say.ends(1))).toStrictEqual(cancelled)
  given(...working)
    .when({ ...say.ends(1), by } as Command)
    .then(say.ended(1, 'p1', 'end_turn'))
  expect(end(working, say.ends(1, 'cancelled'))).toStrictEqual({ bodies: [say.ended(1, 'p1', 'cancelled')] })
})

test('a fork after a prompt was accepted and before its turn began has that turn, interrupted', () => {
  const meta = { editor: 'x' }
  const { happened } = given(say.created, { ...say.accepted('p1', 'x'), meta } as Body).when(say.fork)
  const error = { code: 'TURN_INTERRUPTED', message: expect.stringContaining('forked from another') }
  expect(happened).toEqual({
    bodies: [
      { kind: 'forked_from', from: { session: 's-0', seq: 2 } },
      say.turnStarted(1, 'p1'),
      { ...say.userSaid(1, 'p1', 'x'), meta },
      { ...say.ended(1, 'p1', 'interrupted'), error },
    ],
  })
  const later = given(...working, say.ended(1, 'p1', 'end_turn'), say.accepted('p2', 'y')).when(say.fork).happened
  expect(later).toMatchObject({
    bodies: [{}, say.turnStarted(2, 'p2'), say.userSaid(2, 'p2', 'y'), { ...say.ended(2, 'p2', 'interrupted'), error }],
  })
})
