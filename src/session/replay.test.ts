/** A merged replay tells the same conversation in fewer words. */
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { told } from '../../test/sim/told.ts'
import { live, wishes } from '../../test/sim/wishes.ts'
import { agentSaid, agentThought, text, toolCall } from '../../test/sim/words.ts'
import type { Body, Entry } from './entries.ts'
import { Replay } from './replay.ts'

function replay(entries: readonly Entry[], pageSize = 1_000): readonly Entry[] {
  const replay = new Replay()
  const out: Entry[] = []
  for (let at = 0; at < entries.length; at += pageSize) out.push(...replay.push(entries.slice(at, at + pageSize)))
  return [...out, ...replay.flush()]
}

const numbered = (...bodies: readonly Body[]): readonly Entry[] =>
  bodies.map((body, n) => Object.assign({ seq: n + 1, at: 0 }, body))

describe('a replay', () => {
  test('tells the same as the journal, cut into pages of any size', () => {
    fc.assert(
      fc.property(wishes, fc.integer({ min: 1, max: 9 }), (wishes, pageSize) => {
        const { entries } = live(wishes)
        expect(told(replay(entries, pageSize))).toEqual(told(entries))
      }),
      { numRuns: 500 },
    )
  })

  test('never goes back, and ends where the journal ends', () => {
    fc.assert(
      fc.property(wishes, (wishes) => {
        const { entries } = live(wishes)
        const seqs = replay(entries).map(({ seq }) => seq)
        expect(seqs).toEqual([...new Set(seqs)].toSorted((a, b) => a - b))
        expect(seqs.at(-1)).toBe(entries.at(-1)?.seq)
      }),
    )
  })

  test('makes one chunk of adjacent ones of a message', () =>
    expect(replay(numbered(agentSaid('m1', 'Hel'), agentSaid('m1', 'lo')))).toEqual([
      { ...agentSaid('m1', 'Hello'), seq: 2, at: 0 },
    ]))

  test.each<[string, readonly Body[]]>([
    ['two messages', [agentSaid('m1', 'a'), agentSaid('m2', 'b')]],
    ['a thought and a word', [agentThought('m1', 'a'), agentSaid('m2', 'b')]],
    ['a message with a tool call in it', [agentSaid('m1', 'a'), toolCall('c1', 'x'), agentSaid('m1', 'b')]],
    ['a block with annotations', [agentSaid('m1', 'a'), annotated('m1', 'b'), agentSaid('m1', 'c')]],
  ])('keeps %s apart', (_what, bodies) => expect(replay(numbered(...bodies))).toEqual(numbered(...bodies)))

  test('passes a long message on in pieces', () => {
    const long = numbered(...Array.from({ length: 300 }, () => agentSaid('m1', 'x'.repeat(1_000))))
    const pieces = replay(long)
    expect(pieces.length).toBeGreaterThan(3)
    expect(told(pieces)).toEqual(told(long))
  })
})

function annotated(messageId: string, words: string): Body {
  return { kind: 'message_chunk', role: 'agent', messageId, content: { ...text(words), annotations: { priority: 1 } } }
}
