import { describe, expect, test } from 'vitest'
import { TestClock } from '../../../test/sim/clock.ts'
import type { Span } from '../../ports/values/telemetry.ts'
import type { Body } from '../../session/domain/entries.ts'
import { SessionSpans } from './session-spans.ts'

const started: Body = { kind: 'turn_started', turnId: 't1', promptId: 'p1' }
const ended: Body = { kind: 'turn_ended', turnId: 't1', promptId: 'p1', stopReason: 'end_turn' }
const call: Body = { kind: 'tool_call', toolCallId: 'c1', call: { title: 'Edit /home/me/x', kind: 'edit' } }

/** The spans of these entries; each is stored 100 ms after the one before. */
function spansOf(bodies: readonly Body[], agent = 'guide'): readonly Span[] {
  const seen: Span[] = []
  const clock = new TestClock('00000000-0000-0000-0000-00000000000')
  const telemetry = { span: (span: Span) => void seen.push(span), record: () => undefined }
  const entries = bodies.map((body, at) => ({ ...body, seq: at + 1, at: 1_000 + at * 100 }))
  new SessionSpans({ telemetry, newId: () => clock.id(), content: false }).stored('s1', agent, entries)
  return seen
}

describe('the entries of a session become', () => {
  test('a span of the turn, from its start to its end', () => {
    expect(spansOf([started, ended])).toMatchObject([
      { name: 'invoke_agent guide', startedAt: 1_000, endedAt: 1_100, attributes: { 'parley.turn.id': 't1' } },
    ])
  })

  test('spans of tool calls by their name or kind, never by their title', () => {
    const done: Body = { kind: 'tool_call_patched', toolCallId: 'c1', patch: { status: 'completed' } }
    const [tool, turn] = spansOf([started, call, done, ended])
    expect(tool).toMatchObject({ name: 'execute_tool edit', parentId: turn?.spanId, startedAt: 1_100, endedAt: 1_200 })
    expect(JSON.stringify([tool, turn])).not.toContain('/home/me')
  })

  test('a cancelled span for a call that was open at the end of its turn', () => {
    const [tool] = spansOf([started, call, ended])
    expect(tool).toMatchObject({ attributes: { 'parley.tool.status': 'cancelled' } })
  })

  test('an error by its code alone', () => {
    const failed: Body = { ...ended, stopReason: 'error', error: { code: 'AGENT_FAILED', message: '/home/me broke' } }
    const spans = spansOf([started, failed])
    expect(spans).toMatchObject([{ error: 'AGENT_FAILED' }])
    expect(JSON.stringify(spans)).not.toContain('/home/me')
  })

  test('two spans of a turn that was suspended and resumed', () => {
    const suspended: Body = { kind: 'turn_suspended', turnId: 't1' }
    const resumed: Body = { kind: 'turn_resumed', turnId: 't1' }
    const spans = spansOf([started, suspended, resumed, ended])
    const reasons = spans.map(({ attributes }) => attributes['parley.turn.stop_reason'])
    expect(reasons).toEqual(['suspended', 'end_turn'])
  })

  test('nothing for the end of a turn that began in another process', () => {
    expect(spansOf([ended])).toEqual([])
  })

  test('the name of a script without its path', () => {
    expect(spansOf([started, ended], 'script:/home/me/x.jsonl')).toMatchObject([{ name: 'invoke_agent script' }])
  })
})
