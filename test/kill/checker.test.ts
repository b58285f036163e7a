/** The checker itself: an honest run passes, and every lie about it is found and called by its name. */
import { describe, expect, test } from 'vitest'
import { check } from './checker.ts'
import { checkEpochs, checkOwners } from './cluster/check-owners.ts'
import type { Evidence, FindingKind } from './evidence.ts'
import { chunk, honest, journal, live, replay } from './forge.ts'

const kindsOf = (evidence: Evidence): readonly FindingKind[] => [...new Set(check(evidence).map(({ kind }) => kind))]
const saw = (updates: Evidence['replay']): Evidence => ({ ...honest, views: [{ updates, answers: [] }] })
const loads = (updates: Evidence['replay']): Evidence => ({ ...honest, replay: updates })
const without = <Item>(items: readonly Item[], index: number): readonly Item[] => items.toSpliced(index, 1)

test('an honest run passes', () => expect(check(honest)).toEqual([]))

test('a load that tells a call once, with its last word, passes', () => {
  const call = {
    sessionUpdate: 'tool_call',
    toolCallId: 'c1',
    ...(journal[7]?.body['call'] as object),
    ...(journal[9]?.body['patch'] as object),
  }
  const folded = [...replay.slice(0, 2), { sessionId: 's', seq: 10, update: call }, ...replay.slice(5)]
  expect(check(loads(folded))).toEqual([])
})

test('a client that was cut off earlier saw less, which is no loss', () => {
  for (let length = 0; length <= live.length; length += 1) expect(check(saw(live.slice(0, length)))).toEqual([])
})

describe('is found as lost', () => {
  test.each<[string, Evidence]>([
    [
      'a chunk that was seen and is not told',
      loads([replay[0], chunk(6, 'one of it; two of it; '), ...replay.slice(2)].flatMap((one) => one ?? [])),
    ],
    ['the last thing that was seen', saw([...live, chunk(12, 'five of it; ', 't1-m2')])],
    ['a tool call that was seen', loads(without(replay, 2))],
    ['the last word on a tool call', loads(without(replay, 4))],
    ['a word that was seen otherwise', saw(live.with(1, chunk(6, 'TWO of it; ')))],
    [
      'an order that was seen otherwise',
      saw([...live.slice(0, 2), ...live.slice(3), chunk(10, 'three of it; ', 't1-m2')]),
    ],
    [
      'a chunk in the middle that nobody is told',
      { ...loads(replay.with(1, chunk(7, 'one of it; three of it; '))), views: [] },
    ],
    ['a prompt that the load does not tell', loads([])],
  ])('%s', (_what, evidence) => expect(kindsOf(evidence)).toContain('lost'))

  test('an answer to a prompt whose end is not stored', () => {
    const answered = { ...honest, views: [{ updates: live, answers: [{ promptId: 'p2', end: 'end_turn' }] }] }
    expect(kindsOf(answered)).toEqual(['lost'])
  })

  test('a call that succeeded and never ran', () => {
    const completed = { kind: 'tool_call_patched', toolCallId: 'c1', patch: { status: 'completed' } }
    const evidence = { ...honest, effects: [], journal: journal.with(9, { seq: 10, body: completed }) }
    expect(kindsOf(evidence)).toContain('lost')
  })
})

describe('is found as doubled', () => {
  test.each<[string, Evidence]>([
    ['an entry that a client was told twice', saw(live.toSpliced(1, 0, ...live.slice(1, 2)))],
    ['an entry that a load tells twice', loads(replay.toSpliced(3, 0, ...replay.slice(3, 4)))],
    ['a chunk that came twice', loads(replay.with(1, chunk(7, 'one of it; two of it; two of it; three of it; ')))],
    ['a call that ends twice', loads([...replay.slice(0, 5), ...replay.slice(4)])],
    [
      'a turn that ends twice',
      { ...honest, journal: [...journal, { seq: 12, body: journal[10]?.body ?? { kind: '' } }] },
    ],
    ['an end that is told twice', loads([...replay, chunk(12, 'Interrupted: the server stopped again', 't1-end2')])],
    ['a tool that ran once more than it was called', { ...honest, effects: [...honest.effects, ...honest.effects] }],
    [
      'a tool that ran before its call was stored',
      { ...honest, journal: journal.slice(0, 8).concat(journal.slice(10)) },
    ],
  ])('%s', (_what, evidence) => expect(kindsOf(evidence)).toContain('doubled'))
})

describe('is found to be without an end', () => {
  test('a turn that was accepted and never ended', () =>
    expect(kindsOf({ ...honest, journal: journal.slice(0, 10) })).toEqual(['without an end']))
  test('a cut turn of which the load does not say so', () =>
    expect(kindsOf(loads(replay.slice(0, 5)))).toEqual(['without an end']))
  test('a call that stays open', () => expect(kindsOf(loads(without(replay, 4)))).toContain('without an end'))
})

describe('is found to be wrong', () => {
  test('a hole in the journal', () => expect(kindsOf({ ...honest, journal: without(journal, 4) })).toEqual(['wrong']))
  test('a seq that went back', () => expect(kindsOf(saw(live.with(1, chunk(4, 'two of it; '))))).toContain('wrong'))
  test('a seq that a load contradicts', () =>
    expect(kindsOf(saw(live.slice(0, 2).with(1, chunk(8, 'two of it; '))))).toEqual(['wrong']))
  test('a cut call that does not say that it may have run', () => {
    const mute = { ...replay[4], update: { sessionUpdate: 'tool_call_update', toolCallId: 'c1', status: 'failed' } }
    const stored = { kind: 'tool_call_patched', toolCallId: 'c1', patch: { status: 'failed' } }
    const evidence = loads(replay.with(4, { sessionId: 's', seq: 10, ...mute }))
    expect(kindsOf({ ...evidence, journal: journal.with(9, { seq: 10, body: stored }) })).toEqual(['wrong'])
  })
  test('an answer that contradicts what is stored', () => {
    const answered = { ...honest, views: [{ updates: live, answers: [{ promptId: 'p1', end: 'end_turn' }] }] }
    expect(kindsOf(answered)).toEqual(['wrong'])
  })
})

describe('of sessions that change their owner', () => {
  const claims = [
    { pid: 1, at: 10 },
    { pid: undefined, at: 20 },
    { pid: 2, at: 30 },
  ]

  test('what each did while the session was its own, or nobody else had it, passes', () => {
    const effects = [
      { parent: 1, at: 15 },
      { parent: 1, at: 25 },
      { parent: 2, at: 35 },
    ]
    expect(checkOwners(claims, effects)).toEqual([])
  })

  test('an effect after the claim of another one is found', () => {
    expect(checkOwners(claims, [{ parent: 1, at: 31 }])).toMatchObject([{ kind: 'wrong' }])
  })

  test('an entry of an earlier owner after one of a later owner is found', () => {
    const rows = [1, 2, 1].map((epoch, index) => ({ seq: index + 1, epoch, body: { kind: 'words' } }))
    expect(checkEpochs(rows.slice(0, 2))).toEqual([])
    expect(checkEpochs(rows)).toMatchObject([{ kind: 'wrong', what: expect.stringContaining('seq 3') as string }])
  })
})
