/** The tool calls of a hostile provider are kept only as far as they can be stored, shown and sent again. */
import { describe, expect, test } from 'vitest'
import { Collector } from './model.ts'

function called(toolName: string, input: string) {
  const reject = (error: unknown): never => {
    throw error as Error
  }
  const collector = new Collector({ provider: 'openai', newId: () => 'ours', reject })
  collector.take({ type: 'tool-call', toolCallId: 'theirs', toolName, input })
  const tokens = { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 }
  collector.take({
    type: 'finish',
    finishReason: { unified: 'tool-calls', raw: 'tool_calls' },
    usage: { inputTokens: tokens, outputTokens: { total: 1, text: 1, reasoning: 0 } },
  })
  return collector.end?.message.parts[0]
}

describe('a tool call', () => {
  test('keeps its arguments unchanged', () => {
    expect(called('echo', '{"a":[1,{"b":null}]}')).toMatchObject({ name: 'echo', args: { a: [1, { b: null }] } })
    expect(called('echo', ' ')).toMatchObject({ args: {} })
  })

  test.each([
    ['broken off', '{"a":'],
    ['nested without end', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
    ['deep inside an object', `{"a":${'{"b":'.repeat(5_000)}1${'}'.repeat(5_000)}}`],
    ['longer than any file that is written', JSON.stringify({ a: 'x'.repeat(5_000_000) })],
  ])('that is %s is malformed, and only its beginning is kept', (_what, input) => {
    expect(called('echo', input)).toMatchObject({ args: {}, malformed: input.slice(0, 1_000) })
  })

  test('has a name that can be shown', () => {
    expect(called('x'.repeat(1_000_000), '{}')).toMatchObject({ name: 'x'.repeat(200) })
  })
})
