/** Advice for an edit that does not match is computed in bounded time. */
import { expect, test } from 'vitest'
import { explainMismatch } from './apply.ts'

test('a long quotation of a long file that repeats itself is matched in time', () => {
  const old_text = `${'a\n'.repeat(50_000)}b`
  expect(explainMismatch('a\n'.repeat(200_000), { old_text, new_text: '' })).toContain('old_text')
})
