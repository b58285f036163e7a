/** Many commands in one batch come to what they come to one by one. */
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { stateAfter } from '../../../test/sim/given.ts'
import * as say from '../../../test/sim/words.ts'
import { live, settled, wishes } from '../../../test/sim/wishes.ts'
import { type Batch, type CommandOutcome, concernsTurn, decideBatch } from './decide.ts'
import type { Command } from './commands.ts'
import type { Body } from './entries.ts'
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

const working = [say.created, say.accepted('p1', 'x'), say.turnStarted(1, 'p1')]
const asking = [...working, say.toolCall('c1', 'x'), say.asked('r1', 'c1')]

describe('the agent of a turn', () => {
  const effects = (past: readonly Body[], command: Command) => decideBatch([command], stateAfter(...past), 7).effects
  test('gets a cancel, the answer to its question, and nothing of what does not concern it', () => {
    const other = { ...say.asked('r2', 'c1'), survives: false } as Body
    expect(effects(working, say.cancel())).toEqual([{ kind: 'cancel' }])
    expect(effects([...asking, other], say.answer('r2', 'allow_once'))).toMatchObject([
      { kind: 'answer', answered: { question: { requestId: 'r2' }, outcome: say.yes } },
    ])
    expect(effects(working, say.rename('x'))).toEqual([])
  })
  test('that was suspended runs again with the answer', () =>
    expect(effects([...asking, say.suspended(1)], say.answer('r1', 'allow_once'))).toMatchObject([
      { kind: 'run', turn: { turnId: 't1' }, answered: { question: { requestId: 'r1' }, outcome: say.yes } },
    ]))
})

describe('when the disk refuses', () => {
  const concerns = (past: readonly Body[], command: Command) => concernsTurn(command, stateAfter(...past))
  test.each([
    say.says(1, 'x'),
    say.asks(1, 'r1', 'c1'),
    say.ends(1),
    say.cancel(),
    say.withdraw('p1'),
    say.close,
    say.halt,
  ])('$kind, the running turn cannot go on', (command) => expect(concerns(working, command)).toBe(true))
  test('an answer, the turn that waits for it cannot, but a suspended one waits on', () => {
    const command = say.answer('r1', 'allow_once')
    expect(concerns(asking, command)).toBe(true)
    expect(concerns([...asking, say.suspended(1)], command)).toBe(false)
  })
  test.each([say.rename('x'), say.prompt('p3', 'x'), say.withdraw('p2')])('$kind of another, it goes on', (command) =>
    expect(concerns([...working, say.accepted('p2', 'x')], command)).toBe(false),
  )
  test('to withdraw a prompt that has ended, nothing is lost', () =>
    expect(concerns([say.created], say.withdraw('p1'))).toBe(false))
})
