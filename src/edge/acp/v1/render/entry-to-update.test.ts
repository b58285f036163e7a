/** Entries that ACP v1 cannot express are sent as updates that it has. */
import { expect, test } from 'vitest'
import { FULL_DISPLAY } from '../initialize/client-capabilities.ts'
import { entryMessage, updateMessage, updateOf } from './entry-to-update.ts'

const place = { seq: 1, at: 1 }

test('a cancelled tool call has the status failed, and its content says why', () => {
  const content = [{ type: 'content', content: { type: 'text', text: 'Cancelled; it may have run.' } }] as const
  const patch = { status: 'cancelled', content } as const
  expect(updateOf({ ...place, kind: 'tool_call_patched', toolCallId: 'c1', patch })).toEqual({
    sessionUpdate: 'tool_call_update',
    toolCallId: 'c1',
    status: 'failed',
    content,
  })
})

test('that a turn was stopped, and by whom, is an update for clients that want places, and for no others', () => {
  const entry = { ...place, kind: 'turn_ended', turnId: 't1', promptId: 'p1' } as const
  const end = (stopReason: 'end_turn' | 'cancelled' | 'max_steps', by?: string) =>
    updateOf({ ...entry, stopReason, ...(by !== undefined && { by }) }, { ...FULL_DISPLAY, places: true })
  const update = (said: object) => ({ sessionUpdate: 'session_info_update', _meta: { 'parley/end': said } })
  expect(end('cancelled', 'Ada')).toEqual(update({ stopReason: 'cancelled', by: 'Ada' }))
  expect(end('max_steps')).toEqual(update({ stopReason: 'max_turn_requests' }))
  expect(end('end_turn')).toBeUndefined()
  expect(updateOf({ ...entry, stopReason: 'cancelled' })).toBeUndefined()
})

test('fields that ACP v1 does not have, such as who decided about a call, stand in _meta', () => {
  const permission = { decision: 'allow', by: 'rule', why: 'rule “allow command npm test”' } as const
  const call = { title: 'npm test', permission, meta: { own: 1 } }
  expect(updateOf({ ...place, kind: 'tool_call', toolCallId: 'c1', call })).toEqual({
    sessionUpdate: 'tool_call',
    toolCallId: 'c1',
    title: 'npm test',
    _meta: { own: 1, 'parley/permission': permission },
  })
  const option = { id: 'model', name: 'Model', type: 'select', currentValue: 'a', options: [] } as const
  const configOptions = [{ ...option, allowsOther: true, configuredValue: 'a' }] as const
  expect(updateOf({ ...place, kind: 'config_options', configOptions })).toEqual({
    sessionUpdate: 'config_option_update',
    configOptions: [{ ...option, _meta: { 'parley/open': true, 'parley/named': 'a' } }],
  })
})

test('an update of an external agent is sent unchanged if it is ACP v1, and otherwise not at all', () => {
  const update = { sessionUpdate: 'weather_update', sky: 'blue' }
  expect(updateOf({ ...place, kind: 'foreign', protocol: 'acp/v1', update })).toEqual(update)
  expect(updateOf({ ...place, kind: 'foreign', protocol: 'acp/v1', update: 'rain' })).toBeUndefined()
  expect(updateOf({ ...place, kind: 'foreign', protocol: 'acp/v9', update })).toBeUndefined()
})

test('an update of an external agent that Parley sends itself, such as the mode, is not sent', () => {
  const update = { sessionUpdate: 'current_mode_update', currentModeId: 'ask' }
  expect(updateOf({ ...place, kind: 'foreign', protocol: 'acp/v1', update })).toBeUndefined()
})

test('the message of a part of a text is that of its update, whatever the text and wherever it stands', () => {
  const texts = ['', 'plain', '"quoted" \\ \n\u2028', '阵列 👋🏽', '\ud83d', '}}', '{"_meta":1}']
  const entries = texts.flatMap((text) =>
    (['agent', 'thought'] as const).flatMap((role) =>
      ['t1-m1', 'own "id"'].map((messageId) => {
        const content = { type: 'text', text } as const
        return { seq: 1, at: 1, kind: 'message_chunk', role, messageId, content } as const
      }),
    ),
  )
  for (const sessionId of ['s-1', 's "2"'])
    for (const at of [1, { 'parley/seq': 1, 'parley/at': 2, 'parley/turn': 't"1' }])
      for (const entry of entries) {
        const expected = updateMessage(sessionId, updateOf(entry) ?? { sessionUpdate: '' }, at)
        expect(entryMessage(sessionId, entry, { display: FULL_DISPLAY, place: at })).toBe(expected)
      }
})

test('the message of an entry that is damaged says so', () => {
  const entry = { ...place, kind: 'message_chunk', role: 'agent', messageId: 'm' } as never
  expect(entryMessage('s-1', entry, { display: FULL_DISPLAY })).toContain('Entry 1 of this session could not be shown')
})
