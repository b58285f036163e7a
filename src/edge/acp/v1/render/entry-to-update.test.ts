/** Entries that ACP v1 cannot express are sent as updates that it has. */
import { describe, expect, test } from 'vitest'
import * as say from '../../../../../test/sim/words.ts'
import type { Content, ToolCallContent } from '../../../../ports/values/content.ts'
import type { Body, Entry } from '../../../../session/domain/entries.ts'
import { FULL_DISPLAY } from '../initialize/client-capabilities.ts'
import {
  type CallEntry,
  type Update,
  callUpdate,
  entryMessage,
  hiddenInReplay,
  noticeUpdate,
  phaseUpdate,
  settingsResult,
  sharedUpdates,
  showsTerminals,
  stateUpdates,
  updateMessage,
  updateOf,
} from './entry-to-update.ts'

const place = { seq: 1, at: 1 }
const meta = { own: 1 }
const words = say.text('x')
const spoken = (text: string, messageId: string): Update => ({
  sessionUpdate: 'agent_message_chunk',
  content: say.text(text),
  messageId,
})
const saysContent = (content: Content): Body => ({ kind: 'message_chunk', role: 'agent', messageId: 'm1', content })
const shownContent = (content: object): Update => ({ sessionUpdate: 'agent_message_chunk', content, messageId: 'm1' })
const withContent = (content: ToolCallContent): Body => ({
  kind: 'tool_call_patched',
  toolCallId: 'c1',
  patch: { content: [content] },
})
const shownCall = (call: object): Update => ({ sessionUpdate: 'tool_call_update', toolCallId: 'c1', ...call })
const failedTurn = (message: string): Body =>
  ({ ...say.ended(1, 'p1', 'error'), error: { code: 'JOURNAL_IO', message } }) as Body
const commands = [
  { name: 'look', description: 'Looks' },
  { name: 'call', description: 'Runs a tool', hint: 'its name' },
]
const availableCommands = [commands[0], { name: 'call', description: 'Runs a tool', input: { hint: 'its name' } }]
const select = { id: 'model', name: 'Model', type: 'select', currentValue: 'a', options: [] } as const
const usage = { used: 5, size: 10 }
const permission = { decision: 'allow', by: 'rule', why: 'rule “allow command npm test”' } as const
const interrupted =
  'Interrupted: the server stopped while it was working on this. What was said until then is kept; prompt again to continue.'

const rows: readonly [what: string, Body, Update | undefined][] = [
  ['an agent’s word', say.agentSaid('m1', 'x'), shownContent(words)],
  ['a thought', say.agentThought('m1', 'x'), { ...shownContent(words), sessionUpdate: 'agent_thought_chunk' }],
  ['a user’s word', say.userSaid(1, 'p1', 'x'), { ...spoken('x', 't1-user'), sessionUpdate: 'user_message_chunk' }],
  [
    'a user’s word with what the client attached',
    { ...say.userSaid(1, 'p1', 'x'), meta } as Body,
    { ...spoken('x', 't1-user'), sessionUpdate: 'user_message_chunk', _meta: meta },
  ],
  ['words with `_meta`', saysContent({ ...words, meta }), shownContent({ ...words, _meta: meta })],
  [
    'words with annotations',
    saysContent({ ...words, annotations: { priority: 1 } }),
    shownContent({ ...words, annotations: { priority: 1 } }),
  ],
  [
    'a file whose resource has its own `_meta`',
    saysContent({ type: 'resource', resource: { uri: 'file:///x', text: 'x', meta }, meta: { other: 2 } }),
    shownContent({
      type: 'resource',
      resource: { uri: 'file:///x', text: 'x', _meta: meta },
      _meta: { other: 2 },
    }),
  ],
  ['a plan', { kind: 'plan', entries: [] }, { sessionUpdate: 'plan', entries: [] }],
  ['a title', say.titled('Mine'), { sessionUpdate: 'session_info_update', title: 'Mine' }],
  ['commands', { kind: 'commands', commands }, { sessionUpdate: 'available_commands_update', availableCommands }],
  [
    'the origin of a fork',
    { kind: 'forked_from', from: { session: 's-0', seq: 7 } },
    { sessionUpdate: 'session_info_update', _meta: { 'parley/forkedFrom': { sessionId: 's-0', seq: 7 } } },
  ],
  ['a mode', { kind: 'mode', modeId: 'code' }, { sessionUpdate: 'current_mode_update', currentModeId: 'code' }],
  [
    'options',
    { kind: 'config_options', configOptions: say.configOptions },
    { sessionUpdate: 'config_option_update', configOptions: say.configOptions },
  ],
  [
    'an option that takes other values too, and has one from the configuration',
    { kind: 'config_options', configOptions: [{ ...select, allowsOther: true, configuredValue: 'a' }] },
    {
      sessionUpdate: 'config_option_update',
      configOptions: [{ ...select, _meta: { 'parley/open': true, 'parley/named': 'a' } }],
    },
  ],
  ['usage', { kind: 'usage', usage }, { sessionUpdate: 'usage_update', ...usage }],
  [
    'the beginning of a compaction',
    { kind: 'compaction', compactionId: 'k1', patch: { status: 'in_progress' } },
    { sessionUpdate: 'compaction_update', compactionId: 'k1', status: 'in_progress' },
  ],
  [
    'the end of a compaction',
    { kind: 'compaction', compactionId: 'k1', patch: { status: 'completed', summary: [{ ...words, meta }], meta } },
    {
      sessionUpdate: 'compaction_update',
      compactionId: 'k1',
      status: 'completed',
      _meta: meta,
      summary: [{ ...words, _meta: meta }],
    },
  ],
  [
    'a part of a summary',
    { kind: 'compaction_summary', compactionId: 'k1', content: words },
    { sessionUpdate: 'compaction_summary_chunk', compactionId: 'k1', content: words },
  ],
  ['a sentence of the server', { kind: 'notice', text: 'It is gone.' }, spoken('It is gone.', 'notice-1')],
  ['an interrupted turn', say.ended(1, 'p1', 'interrupted'), spoken(interrupted, 't1-end')],
  [
    'a turn that was interrupted in a fork',
    { ...failedTurn('Forked.'), stopReason: 'interrupted' } as Body,
    spoken('Forked.', 't1-end'),
  ],
  ['a failed turn', failedTurn('The disk is full.'), spoken('This turn failed: The disk is full.', 't1-end')],
  [
    'a turn that failed without a reason',
    say.ended(1, 'p1', 'error'),
    spoken('This turn failed: the reason is not known.', 't1-end'),
  ],
  [
    'a new call',
    say.toolCall('c1', 'Look', 'pending'),
    { sessionUpdate: 'tool_call', toolCallId: 'c1', title: 'Look', status: 'pending' },
  ],
  ['the status of a call', say.patched('c1', 'completed'), shownCall({ status: 'completed' })],
  [
    'a cancelled call, which has failed in v1 and whose content says why',
    say.patched('c1', 'cancelled', 'Cancelled.'),
    shownCall({ status: 'failed', content: [{ type: 'content', content: say.text('Cancelled.') }] }),
  ],
  [
    'who decided about a call, which v1 does not have',
    { kind: 'tool_call_patched', toolCallId: 'c1', patch: { permission } },
    shownCall({ _meta: { 'parley/permission': permission } }),
  ],
  [
    'the same beside the `_meta` of the call',
    { kind: 'tool_call_patched', toolCallId: 'c1', patch: { permission, meta } },
    shownCall({ _meta: { ...meta, 'parley/permission': permission } }),
  ],
  [
    'a call with `_meta`, also at its places',
    { kind: 'tool_call_patched', toolCallId: 'c1', patch: { locations: [{ path: '/x', meta }], meta } },
    shownCall({ locations: [{ path: '/x', _meta: meta }], _meta: meta }),
  ],
  [
    'content of a call with `_meta`',
    withContent({ type: 'content', content: { ...words, meta }, meta }),
    shownCall({ content: [{ type: 'content', content: { ...words, _meta: meta }, _meta: meta }] }),
  ],
  [
    'an edit with `_meta`',
    withContent({ type: 'diff', path: '/x', oldText: null, newText: 'x', meta }),
    shownCall({ content: [{ type: 'diff', path: '/x', oldText: null, newText: 'x', _meta: meta }] }),
  ],
  [
    'the terminal of another client',
    withContent({ type: 'terminal', terminalId: 'x', output: 'All passed.' }),
    shownCall({ content: [{ type: 'content', content: say.text('All passed.') }] }),
  ],
  [
    'the terminal of another client, before its output is known',
    withContent({ type: 'terminal', terminalId: 'x' }),
    shownCall({
      content: [{ type: 'content', content: say.text('This runs in a terminal of the client that asked for it.') }],
    }),
  ],
  ['the modes, which a response has', { kind: 'modes', modes: say.modes }, undefined],
  ['a prompt that was accepted', say.accepted('p1', 'x'), undefined],
]

test.each(rows)('%s: its update, and the same as a message', (_what, body, update) => {
  const entry: Entry = { ...body, ...place }
  const shown = updateOf(entry)
  expect(shown).toStrictEqual(update)
  expect(entryMessage('s-1', entry, { display: FULL_DISPLAY })).toBe(shown && updateMessage('s-1', shown, 1))
})

test('the terminal of a client is shown to it as its own, in a call that is also shown without', () => {
  const content: readonly ToolCallContent[] = [
    { type: 'content', content: words },
    { type: 'terminal', terminalId: 'mine', output: 'All passed.' },
  ]
  const call = { ...place, kind: 'tool_call', toolCallId: 'c1', call: { title: 'Test', content } } as const
  const patch = { ...place, kind: 'tool_call_patched', toolCallId: 'c1', patch: { content } } as const
  const isMine = (id: string) => id === 'mine'
  for (const entry of [call, patch]) {
    expect(callUpdate(entry, isMine)['content']).toStrictEqual([content[0], { type: 'terminal', terminalId: 'mine' }])
    expect([showsTerminals(entry, isMine), showsTerminals(entry, () => false)]).toEqual([true, false])
  }
  const bare = { ...place, ...withContent({ type: 'content', content: words }) } as CallEntry
  for (const body of [bare, say.toolCall('c1', 'x'), say.patched('c1', 'completed'), say.titled('x')])
    expect(showsTerminals({ ...place, ...body }, () => true)).toBe(false)
})

test('a client that does not show compactions, or options that are true or false, is not sent them', () => {
  const display = { ...FULL_DISPLAY, compaction: false, booleans: false }
  const configOptions = [say.modelOption, say.loudOption]
  for (const [what, body] of rows.filter(([, { kind }]) => kind.startsWith('compaction')))
    expect([what, updateOf({ ...place, ...body }, display)]).toEqual([what, undefined])
  expect(updateOf({ ...place, kind: 'config_options', configOptions }, display)).toEqual({
    sessionUpdate: 'config_option_update',
    configOptions: [say.modelOption],
  })
  expect(settingsResult({ modes: null, configOptions }, display)).toEqual({ configOptions: [say.modelOption] })
  expect(settingsResult({ modes: null, configOptions: [say.loudOption] }, display)).toEqual({})
})

describe('a client that joins', () => {
  test('has modes and options in the response, with `_meta` also of a group and its choices', () => {
    const [ask, code] = say.modes.availableModes
    const modes = { currentModeId: 'ask', availableModes: [{ ...ask, meta }, code] } as typeof say.modes
    const choice = { value: 'a', name: 'A' }
    const option = { ...say.modelOption, type: 'select', currentValue: 'a' } as const
    const grouped = { ...option, options: [{ group: 'g', name: 'G', options: [{ ...choice, meta }], meta }] }
    const flat = { ...option, options: [{ ...choice, meta }], meta }
    const loud = { ...say.loudOption, meta }
    const _meta = meta
    expect(settingsResult({ modes, configOptions: [grouped, flat, loud] }, FULL_DISPLAY)).toStrictEqual({
      modes: { currentModeId: 'ask', availableModes: [{ ...ask, _meta }, code] },
      configOptions: [
        { ...option, options: [{ group: 'g', name: 'G', options: [{ ...choice, _meta }], _meta }] },
        { ...option, options: [{ ...choice, _meta }], _meta },
        { ...say.loudOption, _meta },
      ],
    })
  })

  test('and gets no replay has the title, the commands and the usage as they are, as far as they are known', () => {
    expect(stateUpdates({ title: 'Mine', commands, usage })).toEqual([
      { sessionUpdate: 'session_info_update', title: 'Mine' },
      { sessionUpdate: 'available_commands_update', availableCommands },
      { sessionUpdate: 'usage_update', ...usage },
    ])
    expect(stateUpdates({ title: null, commands: [], usage: null })).toEqual([])
  })

  test('and gets a replay has only the last title, commands and usage in it, and no modes and options', () => {
    const offered: readonly Body[] = [{ kind: 'modes', modes: say.modes }, ...kinds('mode', 'config_options')]
    const replaced = kinds('title', 'commands', 'usage')
    const entries = [...offered, ...replaced, say.agentSaid('m1', 'x'), ...replaced].map((body, n) =>
      Object.assign({ seq: n + 1, at: 1 }, body),
    )
    expect([...hiddenInReplay(entries)].map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6])
  })
})

/** The first rows of these kinds. */
function kinds(...wanted: readonly Body['kind'][]): readonly Body[] {
  return wanted.flatMap((kind) => rows.map(([, body]) => body).find((body) => body.kind === kind) ?? [])
}

test('a notice, and that a session was closed or deleted, are updates without an entry', () => {
  const notice = { severity: 'info', title: 'Full', meta }
  expect(noticeUpdate(notice)).toEqual({ sessionUpdate: 'notice', severity: 'info', title: 'Full', _meta: meta })
  expect(phaseUpdate('deleted')).toEqual({ sessionUpdate: 'session_info_update', _meta: { 'parley/phase': 'deleted' } })
})

describe('a batch', () => {
  const terminal = { type: 'terminal', terminalId: 'x' } as const
  const batch = (body: Body): readonly Entry[] => [{ ...body, ...place }]
  const shared = (entries: readonly Entry[]) => sharedUpdates('s-1', entries, { display: FULL_DISPLAY, turn: 1 })

  test('is rendered once for all clients that show the same', () => {
    const entries = batch(say.titled('Mine'))
    expect(shared(entries)).toBe(shared(entries))
  })

  test.each<[kind: string, isPersonal: boolean, Body]>([
    ['a user’s word, which its sender is not sent', true, say.userSaid(1, 'p1', 'x')],
    ['the end of a turn', true, say.ended(1, 'p1', 'end_turn')],
    ['a withdrawn prompt', true, say.withdrawn('p1', 'cancelled')],
    ['an answered permission request', true, say.resolved('r1', say.yes)],
    [
      'a call with a terminal',
      true,
      { kind: 'tool_call', toolCallId: 'c1', call: { title: 'x', content: [terminal] } },
    ],
    ['a terminal for a call', true, withContent(terminal)],
    ['an agent’s word', false, say.agentSaid('m1', 'x')],
    ['a call without content', false, say.toolCall('c1', 'x')],
    ['a call without a terminal', false, withContent({ type: 'content', content: words })],
    ['a title', false, say.titled('x')],
  ])('with %s differs between clients: %s', (_kind, isPersonal, body) =>
    expect(shared(batch(body)).isPersonal).toBe(isPersonal),
  )
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

test('an update of an external agent is sent unchanged if it is ACP v1, and otherwise not at all', () => {
  const update = { sessionUpdate: 'weather_update', sky: 'blue' }
  expect(updateOf({ ...place, kind: 'foreign', protocol: 'acp/v1', update })).toEqual(update)
  expect(updateOf({ ...place, kind: 'foreign', protocol: 'acp/v9', update })).toBeUndefined()
  for (const update of ['rain', null, {}, { sessionUpdate: 5 }])
    expect(updateOf({ ...place, kind: 'foreign', protocol: 'acp/v1', update })).toBeUndefined()
})

test('an update of an external agent that Parley sends itself, such as the mode, is not sent', () => {
  const own = new Set(['notice', ...rows.flatMap(([, , update]) => update?.sessionUpdate ?? [])])
  expect(own.size).toBe(14)
  for (const sessionUpdate of own)
    expect(updateOf({ ...place, kind: 'foreign', protocol: 'acp/v1', update: { sessionUpdate } })).toBeUndefined()
})

test('the message of a part of a text is that of its update, whatever the text and wherever it stands', () => {
  const texts = ['', 'plain', '"quoted" \\ \n\u2028', '阵列 👋🏽', '\ud83d', '}}', '{"_meta":1}']
  const entries = texts.flatMap((text) =>
    ['t1-m1', 'own "id"'].flatMap((messageId) =>
      (['agent', 'thought'] as const).map((role) => {
        const content = { type: 'text', text } as const
        return { seq: 1, at: 1, kind: 'message_chunk', role, messageId, content } as const
      }),
    ),
  )
  for (const at of [1, { 'parley/seq': 1, 'parley/at': 2, 'parley/turn': 't"1' }])
    for (const entry of entries)
      for (const sessionId of ['s-1', 's "2"', 's-1']) {
        const expected = updateMessage(sessionId, updateOf(entry) ?? { sessionUpdate: '' }, at)
        expect(entryMessage(sessionId, entry, { display: FULL_DISPLAY, place: at })).toBe(expected)
      }
})

test('the message of an entry that is damaged says so, and is valid whatever is missing', () => {
  const chunk = { ...place, kind: 'message_chunk', role: 'agent' } as const
  const message = (damaged: object) => String(entryMessage('s-1', damaged as Entry, { display: FULL_DISPLAY }))
  const sentence = 'Entry 1 of this session could not be shown'
  expect(JSON.parse(message({ ...chunk, messageId: 'm' }))).toMatchObject({
    params: { update: { content: { text: expect.stringContaining(sentence) }, messageId: 'entry-1' } },
  })
  for (const damage of [{ content: words }, { messageId: 'm', content: { type: 'text' } }])
    expect(JSON.parse(message({ ...chunk, ...damage }))).toMatchObject({ params: { sessionId: 's-1' } })
})
