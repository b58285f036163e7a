/** What the laws about turns say of transcripts that are made up here. */
import { expect, test } from 'vitest'
import type { Message } from '../../e2e/message.ts'
import type { Entry, Transcript } from './record.ts'
import { unfinishedCalls } from './turn-laws.ts'

const sessionId = 's'
const entry = (from: Entry['from'], message: object): Entry => ({ from, message: message as Message }) as Entry
const prompt = (id: number): Entry => entry('client', { id, method: 'session/prompt', params: { sessionId } })
const answer = (id: number, stopReason: string): Entry => entry('agent', { id, result: { stopReason } })
const call = (status: string): Entry => {
  const update = { sessionUpdate: 'tool_call', toolCallId: 'c', status }
  return entry('agent', { method: 'session/update', params: { sessionId, update } })
}
const complaints = (...entries: readonly Entry[]): readonly string[] =>
  unfinishedCalls({ entries, shared: false, impurities: [] } as unknown as Transcript)

test('a call that is open when its turn is answered is a fault', () => {
  const open = 'the tool call c is still in_progress when its turn is answered'
  expect(complaints(prompt(1), call('in_progress'), answer(1, 'cancelled'))).toEqual([open])
  expect(complaints(prompt(1), call('in_progress'), call('failed'), answer(1, 'cancelled'))).toEqual([])
})

test('a prompt that is taken back while another one runs ends no call of that', () => {
  const seen = [prompt(1), prompt(2), call('in_progress'), answer(2, 'cancelled')]
  expect(complaints(...seen)).toEqual([])
  expect(complaints(...seen, call('completed'), answer(1, 'end_turn'))).toEqual([])
  expect(complaints(...seen, answer(1, 'end_turn'))).toHaveLength(1)
})
