/** A long result fits into what a model is given, with its end. */
import { expect, test } from 'vitest'
import { MAX_MODEL_CHARS, longResult } from './result.ts'

test('a shortened result stays within the limit and keeps its last line', () => {
  const text = `${'x'.repeat(200)}\n`.repeat(1_000) + '[Exit code 1.]'
  const [shown] = longResult(text, 'call-1').modelContent ?? []
  const words = shown?.type === 'text' ? shown.text : ''
  expect(words.length).toBeLessThanOrEqual(MAX_MODEL_CHARS)
  expect(words.endsWith('[Exit code 1.]')).toBe(true)
  expect(words).toContain('toolCallId "call-1"')
})
