/** A small honest run as the checker would get it, for tests that then tell a lie about it. */
import type { Fields, SeenUpdate } from '../e2e/message.ts'
import type { Evidence, JournalRow } from './evidence.ts'
import { INTERRUPTED } from './check-turns.ts'

const PROMPT = 'Tell the tale.'
const CHUNKS = ['one of it; ', 'two of it; ', 'three of it; ', 'four of it; ']

function update(seq: number, sessionUpdate: string, fields: Fields): SeenUpdate {
  return { sessionId: 's', seq, update: { sessionUpdate, ...fields } }
}

export function chunk(seq: number, text: string, messageId = 't1-m1'): SeenUpdate {
  return update(seq, 'agent_message_chunk', { content: { type: 'text', text }, messageId })
}

function call(seq: number, status: string, more: Fields = {}): SeenUpdate {
  const kind = status === 'pending' ? 'tool_call' : 'tool_call_update'
  return update(seq, kind, { toolCallId: 'c1', status, ...more })
}

const mayHaveRun = { content: [{ type: 'content', content: { type: 'text', text: 'Interrupted; it may have run.' } }] }
const user = update(4, 'user_message_chunk', { content: { type: 'text', text: PROMPT }, messageId: 't1-user' })

/** What came live: three chunks, and a call that had begun. */
export const live: readonly SeenUpdate[] = [
  chunk(5, CHUNKS[0] ?? ''),
  chunk(6, CHUNKS[1] ?? ''),
  chunk(7, CHUNKS[2] ?? ''),
  call(8, 'pending', { title: 'append', rawInput: { label: 'c1' } }),
  call(9, 'in_progress'),
]

/** What a load tells of it afterwards. */
export const replay: readonly SeenUpdate[] = [
  user,
  chunk(7, CHUNKS.slice(0, 3).join('')),
  call(8, 'pending', { title: 'append', rawInput: { label: 'c1' } }),
  call(9, 'in_progress'),
  call(10, 'failed', mayHaveRun),
  chunk(11, `${INTERRUPTED} while it was working on this.`, 't1-end'),
]

const bodies: readonly JournalRow['body'][] = [
  { kind: 'session_created' },
  { kind: 'prompt_accepted', promptId: 'p1' },
  { kind: 'turn_started', turnId: 't1', promptId: 'p1' },
  { kind: 'message_chunk', role: 'user' },
  ...[1, 2, 3].map(() => ({ kind: 'message_chunk', role: 'agent' })),
  { kind: 'tool_call', toolCallId: 'c1', call: { title: 'append', status: 'pending', rawInput: { label: 'c1' } } },
  { kind: 'tool_call_patched', toolCallId: 'c1', patch: { status: 'in_progress' } },
  { kind: 'tool_call_patched', toolCallId: 'c1', patch: { status: 'failed', ...mayHaveRun } },
  { kind: 'turn_ended', turnId: 't1', promptId: 'p1', stopReason: 'interrupted' },
]

export const journal: readonly JournalRow[] = bodies.map((body, index) => ({ seq: index + 1, body }))

export const honest: Evidence = {
  views: [{ updates: live, answers: [] }],
  replay,
  journal,
  effects: [{ label: 'c1', life: '1' }],
  prompts: new Map([['p1', PROMPT]]),
  story: CHUNKS.join(''),
}
