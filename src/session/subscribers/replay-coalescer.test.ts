/** A merged replay results in the same conversation with fewer updates. */
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { transcriptOf, visible } from '../../../test/sim/transcript.ts'
import { live, wishes } from '../../../test/sim/wishes.ts'
import { agentSaid, agentThought, asked, patched, resolved, text, toolCall } from '../../../test/sim/words.ts'
import type { Body, Entry } from '../domain/entries.ts'
import { ReplayCoalescer, firstOf } from './replay-coalescer.ts'

function replay(entries: readonly Entry[], pageSize = 1_000): readonly Entry[] {
  const replay = new ReplayCoalescer()
  const out: Entry[] = []
  for (let at = 0; at < entries.length; at += pageSize) out.push(...replay.push(entries.slice(at, at + pageSize)))
  return [...out, ...replay.flush()]
}

const pages = fc.integer({ min: 1, max: 9 })

const numbered = (...bodies: readonly Body[]): readonly Entry[] =>
  bodies.map((body, n) => Object.assign({ seq: n + 1, at: 0 }, body))

describe('a replay', () => {
  test('of pages of any size has the same content as the journal', () => {
    fc.assert(
      fc.property(wishes, fc.integer({ min: 1, max: 9 }), (wishes, pageSize) => {
        const { entries } = live(wishes)
        expect(transcriptOf(replay(entries, pageSize))).toEqual(transcriptOf(entries))
      }),
      { numRuns: 200 },
    )
  })

  test('has growing cursors, and ends where the journal ends', () => {
    fc.assert(
      fc.property(wishes, (wishes) => {
        const { entries } = live(wishes)
        const seqs = replay(entries).map(({ seq }) => seq)
        expect(seqs).toEqual([...new Set(seqs)].toSorted((a, b) => a - b))
        expect(seqs.at(-1)).toBe(entries.at(-1)?.seq)
      }),
    )
  })

  test('cut after any update and resumed from its cursor has the same content, and nothing twice', () => {
    fc.assert(
      fc.property(wishes, fc.tuple(pages, pages), fc.nat(), (wishes, [pageSize, nextPageSize], at) => {
        const { entries } = live(wishes)
        const before = visible(replay(entries, pageSize))
        const heard = before.slice(0, at % (before.length + 1))
        const cursor = heard.at(-1)?.seq ?? 0
        const rest = visible(replay(entries.slice(cursor), nextPageSize))
        expect(transcriptOf([...heard, ...rest])).toEqual(transcriptOf(visible(entries)))
        expect(new Set([...heard, ...rest].map(({ seq }) => seq)).size).toBe(heard.length + rest.length)
      }),
      { numRuns: 300 },
    )
  })

  test('merges a tool call with its changes, also around a permission request', () => {
    const call = [toolCall('c1', 'Delete', 'pending'), asked('r1', 'c1'), resolved('r1', { outcome: 'cancelled' })]
    const run = [patched('c1', 'in_progress'), patched('c1', 'completed', 'done')]
    expect(replay(numbered(...call, ...run), 2).map(({ seq }) => seq)).toEqual([2, 3, 5])
    expect(visible(replay(numbered(...call, ...run), 2))).toEqual([
      {
        kind: 'tool_call',
        toolCallId: 'c1',
        call: { title: 'Delete', status: 'completed', content: [{ type: 'content', content: text('done') }] },
        seq: 5,
        at: 0,
        first: { seq: 1, at: 0 },
      },
    ])
  })

  test('has each call where it first appeared, and parallel calls change by change', () => {
    const begun = [toolCall('c1', 'one'), toolCall('c2', 'two')]
    const steps = [
      patched('c1', 'in_progress', '1 %'),
      patched('c2', 'in_progress'),
      patched('c1', 'in_progress', '2 %'),
    ]
    const ends = [patched('c2', 'completed'), patched('c1', 'completed')]
    expect(replay(numbered(...begun, ...steps, ...ends)).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7])
  })

  test('keeps apart two calls of one id in two turns', () => {
    const bodies = [
      patched('c1', 'in_progress'),
      agentSaid('m1', 'x'),
      toolCall('c1', 'again'),
      patched('c1', 'failed'),
    ]
    expect(replay(numbered(...bodies)).map(({ seq }) => seq)).toEqual([1, 2, 4])
  })

  test('merges adjacent chunks of a message', () =>
    expect(replay(numbered(agentSaid('m1', 'Hel'), agentSaid('m1', 'lo')))).toEqual([
      { ...agentSaid('m1', 'Hello'), seq: 2, at: 0, first: { seq: 1, at: 0 } },
    ]))

  test('merges changes of a call that began before it, and says where each entry began', () => {
    const more: Body = { kind: 'tool_call_patched', toolCallId: 'c1', patch: { name: 'look' } }
    const [merged, alone] = replay(numbered(patched('c1', 'completed', 'done'), more, agentSaid('m1', 'x')))
    expect(merged).toEqual({
      ...patched('c1', 'completed', 'done'),
      patch: { status: 'completed', content: [{ type: 'content', content: text('done') }], name: 'look' },
      seq: 2,
      at: 0,
      first: { seq: 1, at: 0 },
    })
    expect([merged, alone].map((entry) => entry && firstOf(entry))).toEqual([1, 3].map((seq) => ({ seq, at: 0 })))
  })

  test.each<[string, readonly Body[]]>([
    ['two pictures', [pictured('m1'), pictured('m1')]],
    ['two messages', [agentSaid('m1', 'a'), agentSaid('m2', 'b')]],
    ['a thought and a word', [agentThought('m1', 'a'), agentSaid('m2', 'b')]],
    ['a message with a tool call in it', [agentSaid('m1', 'a'), toolCall('c1', 'x'), agentSaid('m1', 'b')]],
    ['a block with annotations', [agentSaid('m1', 'a'), annotated('m1', 'b'), agentSaid('m1', 'c')]],
  ])('keeps %s apart', (_what, bodies) => expect(replay(numbered(...bodies))).toEqual(numbered(...bodies)))

  test('sends a long message in pieces', () => {
    const long = numbered(...Array.from({ length: 300 }, () => agentSaid('m1', 'x'.repeat(1_000))))
    const pieces = replay(long)
    expect(pieces.length).toBeGreaterThan(3)
    expect(transcriptOf(pieces)).toEqual(transcriptOf(long))
  })
})

function annotated(messageId: string, words: string): Body {
  return { kind: 'message_chunk', role: 'agent', messageId, content: { ...text(words), annotations: { priority: 1 } } }
}

function pictured(messageId: string): Body {
  return {
    kind: 'message_chunk',
    role: 'agent',
    messageId,
    content: { type: 'image', data: '', mimeType: 'image/png' },
  }
}
