/** Many commands in one batch come to what they come to one by one. */
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { stateAfter } from '../../../test/sim/given.ts'
import * as say from '../../../test/sim/words.ts'
import { live, settled, wishes } from '../../../test/sim/wishes.ts'
import { type Batch, type CommandOutcome, decideBatch } from './decide.ts'
import type { Command } from './commands.ts'
import { type State, absent, isBusy } from './state.ts'

function oneByOne(commands: readonly Command[], before: State) {
  let state = before
  const entries: Batch['entries'][number][] = []
  const outcomes: CommandOutcome[] = []
  for (const command of commands) {
    const batch = decideBatch([command], state, 7)
    entries.push(...batch.entries)
    outcomes.push(...batch.outcomes)
    state = batch.state
  }
  return { state, entries, outcomes }
}

describe('a batch', () => {
  test('of many commands has the same entries as the commands one by one', () => {
    fc.assert(
      fc.property(wishes, wishes, (earlier, later) => {
        const before = live(earlier).states.at(-1) ?? absent('s-1')
        const commands = later.map((wish) => settled(wish, before))
        const { state, entries, outcomes } = decideBatch(commands, before, 7)
        expect({ state, entries, outcomes }).toEqual(oneByOne(commands, before))
      }),
      { numRuns: 300 },
    )
  })

  test('of texts that came together has the same entries as the texts one by one', () => {
    const turn = [say.created, say.accepted('p1', 'x'), say.turnStarted(1, 'p1')]
    const together = say.does(1, { kind: 'chunks', role: 'agent', texts: ['One', ' more', ' word'] })
    const apart = ['One', ' more', ' word'].map((words) => say.says(1, words))
    const open = stateAfter(...turn)
    for (const before of [open, decideBatch([say.says(1, 'Then: ')], open, 7).state]) {
      const { state, entries, stored } = decideBatch([say.thinks(1, 'Hm'), together, say.names(1, 'x')], before, 7)
      const expected = decideBatch([say.thinks(1, 'Hm'), ...apart, say.names(1, 'x')], before, 7)
      expect({ state, entries, stored }).toEqual({
        state: expected.state,
        entries: expected.entries,
        stored: expected.stored,
      })
    }
  })

  test('has an agent run each turn that it starts and that is still open at its end, and no other', () => {
    fc.assert(
      fc.property(wishes, (wishes) => {
        const { state, effects } = decideBatch(live(wishes).commands, absent('s-1'), 7)
        const run = effects.flatMap((effect) => (effect.kind === 'run' ? [effect.turn.turnId] : []))
        expect(run).toEqual(isBusy(state) && state.phase !== 'suspended' ? [state.turn.turnId] : [])
      }),
      { numRuns: 300 },
    )
  })

  test('goes on after a command that is refused', () => {
    const { entries, outcomes } = decideBatch(
      [say.answer('r1', 'allow_once'), say.names(1, 'x'), say.configure('/tmp')],
      stateAfter(say.created),
      7,
    )
    expect(entries.map(({ kind }) => kind)).toEqual(['session_configured'])
    expect(outcomes.map((outcome) => 'refused' in outcome)).toEqual([true, false, false])
  })

  test('drops all entries of a command when one of them cannot be stored', () => {
    const before = stateAfter(say.created, say.accepted('p1', 'x'), say.turnStarted(1, 'p1'))
    const circular: { self?: unknown } = {}
    circular.self = circular
    const ask = { toolCallId: 'c1', patch: { title: 'x' }, options: say.options, resume: circular }
    const batch = decideBatch([{ kind: 'ask', turnId: 't1', requestId: 'r1', ask }], before, 7)
    expect(batch).toMatchObject({
      state: before,
      entries: [],
      stored: [],
      outcomes: [{ refused: expect.any(TypeError) }],
    })
  })
})
