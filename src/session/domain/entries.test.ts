/** What is stored of an entry is its JSON, and comes back as it was. */
import { expect, test } from 'vitest'
import { decodeEntry, encodeBody } from './entries.ts'

test('a part of bare text is stored as the JSON of three strings, whatever is in them, and comes back as it was', () => {
  const texts = ['', 'plain', '"quoted" \\ \n\u2028', '阵列 👋🏽', '\ud83d', '],["']
  for (const messageId of ['t1-m1', 'own "id"', 't1-m1'])
    for (const role of ['agent', 'thought'] as const)
      for (const text of texts) {
        const body = { kind: 'message_chunk', role, messageId, content: { type: 'text', text } } as const
        const stored = encodeBody(body)
        expect(stored).toBe(JSON.stringify([role, messageId, text]))
        expect(decodeEntry({ seq: 3, at: 7, body: stored })).toEqual({ ...body, seq: 3, at: 7 })
      }
})
