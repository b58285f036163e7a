/** The result of a call as an agent finds it after a restart. */
import { expect, test } from 'vitest'
import type { ToolCallContent } from '../../ports/values/content.ts'
import { diskAfter } from '../../../test/sim/given.ts'
import * as say from '../../../test/sim/words.ts'
import type { Body } from '../domain/entries.ts'
import { findToolResult } from './find-tool-result.ts'

const start = [say.created, say.accepted('p1', 'x'), say.turnStarted(1, 'p1')]
const shows = (toolCallId: string, ...content: readonly ToolCallContent[]): Body => ({
  kind: 'tool_call_patched',
  toolCallId,
  patch: { content },
})
const found = async (...bodies: readonly Body[]) =>
  findToolResult({ journal: await diskAfter(...start, ...bodies), session: 's-1' }, 'c1')

test('is the last content of the call at its end, as text where it was a terminal or an edit', async () => {
  const text = say.text('Done.')
  const content: readonly ToolCallContent[] = [
    { type: 'content', content: text },
    { type: 'terminal', terminalId: 'x', output: 'All passed.' },
    { type: 'terminal', terminalId: 'y' },
    { type: 'diff', path: '/a', oldText: null, newText: 'b' },
  ]
  const call = [say.toolCall('c1', 'x'), say.patched('c1', 'in_progress', 'Half.'), shows('c1', ...content)]
  const shown = [text, say.text('All passed.'), say.text(''), say.text('/a:\nb')]
  expect(await found(...call, say.patched('c1', 'completed'))).toEqual(shown)
  const whole = { title: 'x', status: 'completed', content: [{ type: 'content', content: text }] } as const
  expect(await found({ kind: 'tool_call', toolCallId: 'c1', call: whole })).toEqual([text])
  expect(await found(say.toolCall('c1', 'x'), say.patched('c1', 'failed'))).toEqual([])
})

test('is none of a call that has not ended, nor of another whose content names it', async () => {
  const names = shows('c2', { type: 'content', content: say.text('c1') })
  const asks = say.asked('r1', 'c1')
  const other = [say.toolCall('c2', 'c1', 'completed'), names, say.patched('c2', 'completed', 'c1')]
  expect(await found(say.toolCall('c1', 'x', 'in_progress'), asks, shows('c1'), ...other)).toBeUndefined()
  expect(await found(...other)).toBeUndefined()
})

test('is found behind more of the journal than is searched at once', async () => {
  const long = Array.from({ length: 2_001 }, () => shows('c1', { type: 'content', content: say.text('x') }))
  const call = [say.toolCall('c1', 'x'), ...long, say.patched('c1', 'completed', 'Done.')]
  expect(await found(...call)).toEqual([say.text('Done.')])
})
