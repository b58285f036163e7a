/** Events of a provider that are nested deeper than any stack allows: the turn ends with a sentence that a user can act on. */
import { expect, test } from 'vitest'
import { heard } from '../../../test/model-server/heard.ts'

const headers = { 'content-type': 'text/event-stream' }

test.each(
  (['openai', 'anthropic', 'google'] as const).flatMap((format) =>
    [5_000, 200_000].map((levels) => [format, levels] as const),
  ),
)('an event of %s with %i levels', async (format, levels) => {
  const deep = `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
  const body = `data: {"type":"message_start","message":${deep},"choices":${deep},"candidates":[{"content":${deep}}]}\n\ndata: [DONE]\n\n`
  const said = await heard(format, [{ status: 200, body, headers }]).then(
    (parts) => JSON.stringify(parts),
    (error: unknown) => String(error),
  )
  expect(said).not.toMatch(/call stack/u)
})
