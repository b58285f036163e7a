/** What ACP v1 cannot say is said in words that it has. */
import { expect, test } from 'vitest'
import { updateOf } from './entry-to-update.ts'

const place = { seq: 1, at: 1 }

test('a cancelled call has failed, and its content says why', () => {
  const content = [{ type: 'content', content: { type: 'text', text: 'Cancelled; it may have run.' } }] as const
  const patch = { status: 'cancelled', content } as const
  expect(updateOf({ ...place, kind: 'tool_call_patched', toolCallId: 'c1', patch })).toEqual({
    sessionUpdate: 'tool_call_update',
    toolCallId: 'c1',
    status: 'failed',
    content,
  })
})
