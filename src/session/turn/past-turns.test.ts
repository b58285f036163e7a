/** What an agent that does not know a session is given to read of it. */
import { expect, test } from 'vitest'
import type { PastTurn } from '../../ports/agent.ts'
import type { ToolCallContent, ToolCallPatch } from '../../ports/values/content.ts'
import { diskAfter } from '../../../test/sim/given.ts'
import * as say from '../../../test/sim/words.ts'
import type { Body } from '../domain/entries.ts'
import { pastTurns } from './past-turns.ts'

const start = [say.created, say.accepted('p1', 'x'), say.turnStarted(1, 'p1'), say.userSaid(1, 'p1', 'x')]

async function readAfter(cursor: number, ...bodies: readonly Body[]): Promise<readonly PastTurn[]> {
  const turns: PastTurn[] = []
  for await (const turn of pastTurns(await diskAfter(...bodies), 's-1', cursor)) turns.push(turn)
  return turns
}

const read = (...bodies: readonly Body[]) => readAfter(0, ...bodies)

async function parts(...bodies: readonly Body[]): Promise<PastTurn['parts']> {
  const [turn] = await read(...start, ...bodies)
  return turn?.parts ?? []
}

const outside = (role: 'user' | 'agent', message: number, words: string): Body => {
  const said = { kind: 'message_chunk', messageId: `t1-outside${message}`, content: say.text(words), origin: 'outside' }
  return { ...said, role, ...(role === 'user' && { promptId: said.messageId }) } as Body
}

test('turns come in order with how they ended, and those made outside before the turn that found them', async () => {
  const found = [outside('agent', 1, 'Hi.'), outside('user', 2, 'Why?'), outside('user', 2, ' How?')]
  const answered = [outside('agent', 3, 'So.'), outside('agent', 5, 'Now.'), outside('user', 4, 'And?')]
  const next = [say.accepted('p2', 'y'), say.turnStarted(2, 'p2'), say.userSaid(2, 'p2', 'y')]
  const agents = { ...say.turnStarted(2, 't2-agent'), by: 'agent' } as Body
  const text = (words: string) => ({ kind: 'text', text: words })
  const made = (at: number, prompt: readonly string[], ...said: readonly string[]) => ({
    turnId: `t1-outside${at}`,
    by: 'outside',
    prompt: prompt.map(say.text),
    parts: said.map(text),
  })
  const first = { turnId: 't1', cursor: 3, by: 'prompt', prompt: [say.text('x')], parts: [], end: 'end_turn' }
  const ended = [...start, ...found, ...answered, say.ended(1, 'p1', 'end_turn')]
  const past = [made(1, [], 'Hi.'), made(2, ['Why?', ' How?'], 'So.', 'Now.'), made(4, ['And?']), first]
  expect(await read(...ended, say.agentSaid('t1-late', 'Late.'), ...next)).toMatchObject([
    ...past,
    { turnId: 't2', by: 'prompt', prompt: [say.text('y')] },
  ])
  const [, , running] = await read(...start, say.ended(1, 'p1', 'end_turn'), agents, outside('user', 1, 'x'))
  expect(running).toStrictEqual({ turnId: 't2', cursor: 6, by: 'agent', prompt: [], parts: [] })
})

test('a turn that began before the cursor is left out', async () => {
  const next = [say.accepted('p2', 'y'), say.turnStarted(2, 'p2')]
  const turns = await readAfter(3, ...start, say.agentSaid('m1', 'a'), say.ended(1, 'p1', 'end_turn'), ...next)
  expect(turns).toMatchObject([{ turnId: 't2' }])
})

test('messages of the agent are whole, each apart, under its own id; thoughts and pictures are left out', async () => {
  const own = { ...say.agentSaid('m3', 'c'), agentMessageId: 'own' } as Body
  const picture = { ...say.agentSaid('m4', ''), content: { type: 'image', data: '', mimeType: 'image/png' } } as Body
  const said = [say.agentSaid('m1', 'a'), say.agentSaid('m1', 'b'), say.agentThought('m2', 'x'), own, picture]
  expect(await parts(...said)).toStrictEqual([
    { kind: 'text', text: 'ab' },
    { kind: 'text', text: 'c', messageId: 'own' },
  ])
  expect(await parts(say.agentSaid('m1', 'a'), say.toolCall('c1', 'x'), say.agentSaid('m1', 'b'))).toMatchObject([
    { text: 'a' },
    { kind: 'call' },
    { text: 'b' },
  ])
})

test('a long message is kept to its end, and a long turn too', async () => {
  const most = 'x'.repeat(128 * 1024)
  for (const said of [[say.agentSaid('m1', `a${most}`)], [say.agentSaid('m1', 'a'), say.agentSaid('m1', most)]])
    expect(await parts(...said)).toEqual([{ kind: 'text', text: most }])
  expect(await parts(say.agentSaid('m1', most))).toEqual([{ kind: 'text', text: most }])
  const kept = await parts(...Array.from({ length: 1_001 }, (_, n) => say.agentSaid(`m${n}`, `${n}`)))
  expect([kept.length, kept[0]]).toEqual([1_000, { kind: 'text', text: '1' }])
})

test('a call is as it is after its changes, and the change of a call before the turn is left out', async () => {
  const patch = (toolCallId: string, change: ToolCallPatch): Body => ({
    kind: 'tool_call_patched',
    toolCallId,
    patch: change,
  })
  const files = [{ path: '/a' }, { path: '/b' }]
  const diff = { type: 'diff', path: '/a', oldText: null, newText: 'x' } as const
  const begun = { kind: 'call', toolCallId: 'c1', title: 'Look', status: 'pending', paths: [], diffs: [] }
  const [c1, c2] = [say.toolCall('c1', 'Look'), say.toolCall('c2', 'Edit', 'in_progress')]
  expect(await parts(c1, patch('c0', { title: 'x' }))).toEqual([begun])
  expect(
    await parts(
      c1,
      c2,
      patch('c1', { status: 'completed', locations: files, content: [diff] }),
      patch('c1', { title: 'Looked' }),
      patch('c2', { status: 'failed' }),
    ),
  ).toEqual([
    {
      ...begun,
      title: 'Looked',
      status: 'completed',
      paths: ['/a', '/b'],
      diffs: [{ path: '/a', added: 1, removed: 0 }],
    },
    { ...begun, toolCallId: 'c2', title: 'Edit', status: 'failed' },
  ])
})

test.each<[oldText: string | null, newText: string, added: number, removed: number]>([
  [null, 'a\nb', 2, 0],
  ['', 'a', 1, 0],
  ['a\nb', '', 0, 2],
  ['a', 'a\nb', 1, 0],
  ['a\nb', 'a', 0, 1],
  ['a\nb\nc', 'a\nx\ny\nc', 2, 1],
  ['a\na', 'a\na\na', 1, 0],
  ['x\nb\nc', 'y\nb\nc', 1, 1],
  ['a', 'a', 0, 0],
])('an edit of %j to %j adds %i lines and removes %i', async (oldText, newText, ...[added, removed]) => {
  const content: readonly ToolCallContent[] = [
    { type: 'content', content: say.text('x') },
    { type: 'diff', path: '/a', oldText, newText },
  ]
  const [part] = await parts({ kind: 'tool_call', toolCallId: 'c1', call: { title: 'Edit', content } })
  expect(part).toMatchObject({ diffs: [{ path: '/a', added, removed }] })
})
