import { describe, expect, test } from 'vitest'
import {
  GrowingTranscript,
  type TranscriptEvent,
  type Transcript,
  cancelled,
  emptyTranscript,
  withNews,
  withOlder,
  withUpdates,
  withoutOldest,
} from './transcript.ts'
import { array, assert, constantFrom, nat, property } from 'fast-check'
import type { Update } from '../incoming/updates.ts'

const chunk = (who: string, text: string, messageId?: string): Update => ({
  sessionUpdate: `${who}_chunk`,
  content: { type: 'text', text },
  ...(messageId === undefined ? {} : { messageId }),
})

function textsOf(updates: readonly Update[]): readonly string[] {
  return withUpdates(emptyTranscript, updates).items.map((item) => {
    if (item.kind !== 'message') return item.kind
    return `${item.role}: ${item.content.map(({ type, text }) => (type === 'text' ? text : type)).join('|')}`
  })
}

const look = { sessionUpdate: 'tool_call', toolCallId: 't', title: 'Look' }
const image = { sessionUpdate: 'agent_message_chunk', content: { type: 'image', data: '' }, messageId: 'm' }
const user = (text: string, messageId?: string) => chunk('user_message', text, messageId)
const agent = (text: string, messageId?: string) => chunk('agent_message', text, messageId)
const thought = (text: string, messageId?: string) => chunk('agent_thought', text, messageId)

test.each([
  [
    'chunks with one message id are one message, even with other updates between',
    [user('Hi', 'u'), agent('Hel', 'm'), look, agent('lo', 'm'), thought('hm', 'm2')],
    ['user: Hi', 'agent: Hello', 'tool_call', 'thought: hm'],
  ],
  [
    'without ids, a message continues until another kind of update',
    [agent('a'), agent('b'), thought('c'), agent('d')],
    ['agent: ab', 'thought: c', 'agent: d'],
  ],
  ['content that is not text is an item of its own', [agent('a', 'm'), image, agent('b', 'm')], ['agent: a|image|b']],
])('%s', (_what, updates, texts) => expect(textsOf(updates)).toEqual(texts))

test('the end of a turn that was stopped is an item; a change of the title is none', () => {
  const end = { sessionUpdate: 'session_info_update', _meta: { 'parley/end': { stopReason: 'cancelled', by: 'Ada' } } }
  const params = { update: end, _meta: { 'parley/turn': 't1', 'parley/seq': 7, 'parley/at': 9 } }
  const titled = { update: { sessionUpdate: 'session_info_update', title: 'T' } }
  const { items, title } = withNews(emptyTranscript, [
    { kind: 'update', params: titled },
    { kind: 'update', params },
  ])
  expect(title).toBe('T')
  expect(items).toMatchObject([
    { kind: 'end', id: 'end t1', stopReason: 'cancelled', by: 'Ada', turn: 't1', at: { first: 9, last: 9 } },
  ])
})

const completed = (toolCallId: string): Update => {
  return { sessionUpdate: 'tool_call_update', toolCallId, status: 'completed' }
}

test('a tool call is the merge of its updates, also when the first of them was missed', () => {
  const { items } = withUpdates(emptyTranscript, [
    { sessionUpdate: 'tool_call', toolCallId: 't', title: 'Look', status: 'pending', rawInput: { a: 1 } },
    completed('t'),
    { sessionUpdate: 'tool_call_update', toolCallId: 'late', title: 'Late' },
  ])
  const call = { toolCallId: 't', title: 'Look', status: 'completed', rawInput: { a: 1 } }
  expect(items).toEqual([
    { kind: 'tool_call', id: 'call t', call },
    { kind: 'tool_call', id: 'call late', call: { toolCallId: 'late', title: 'Late' } },
  ])
})

test('plan, commands and title are the latest; unknown updates are kept unchanged', () => {
  const usage = { sessionUpdate: 'usage_update', used: 3 }
  const transcript = withUpdates(emptyTranscript, [
    { sessionUpdate: 'plan', entries: [{ content: 'old' }] },
    { sessionUpdate: 'plan', entries: [{ content: 'new' }] },
    { sessionUpdate: 'available_commands_update', availableCommands: [{ name: 'help' }] },
    { sessionUpdate: 'session_info_update', title: 'A talk' },
    { sessionUpdate: 'session_info_update', updatedAt: 'now' },
    usage,
  ])
  expect(transcript).toEqual({
    items: [{ kind: 'other', id: 'item 0', update: usage }],
    plan: [{ content: 'new' }],
    commands: [{ name: 'help' }],
    title: 'A talk',
  })
})

const kinds: Readonly<Record<string, (n: number) => Update>> = {
  'messages of their own': (n) => agent('w', `m${n}`),
  'chunks of one message': () => agent('w', 'm'),
  'messages without ids': (n) => chunk(n % 2 === 0 ? 'agent_message' : 'agent_thought', 'w'),
  'images in one message': () => image,
  'tool calls': (n) => ({ sessionUpdate: 'tool_call', toolCallId: `t${n}`, title: 'Look' }),
  'news of one tool call among many': (n) => completed(n < 30 ? `t${n}` : 't0'),
  'what we have no word for': () => ({ sessionUpdate: 'hologram' }),
}
/** How often items are looked at or changed while the last of so many updates is taken. */
function touchesOfLast(update: (n: number) => Update, count: number): number {
  const growing = new GrowingTranscript()
  for (let n = 0; n < count; n += 1) growing.take(update(n))
  let touches = 0
  const items = new Proxy(growing.items, {
    get(target, key) {
      touches += 1
      return Reflect.get(target, key) as unknown
    },
  })
  Object.defineProperty(growing, 'items', { value: items })
  growing.take(update(count))
  return touches
}

test.each(Object.entries(kinds))(
  'the cost of an update does not depend on the length of the transcript: %s',
  (_what, update) => {
    expect(touchesOfLast(update, 4_000)).toBeLessThanOrEqual(touchesOfLast(update, 40))
  },
)

test('items that an update does not concern stay the same objects', () => {
  const before = withUpdates(emptyTranscript, [agent('a', 'm'), { sessionUpdate: 'tool_call', toolCallId: 't' }])
  const copy = structuredClone({ ...before, items: [...before.items] })
  const after = withUpdates(before, [
    agent('b', 'm'),
    completed('t'),
    { sessionUpdate: 'plan', entries: [{ content: 'x' }] },
  ])
  expect(cancelled(after).items).not.toBe(after.items)
  expect({ ...before, items: [...before.items] }).toEqual(copy)
  expect(after.items).toHaveLength(2)
})

describe('with sequence numbers and turn ids of a Parley server', () => {
  const at = (seq: number, update: Update, turn = 't1') => {
    const _meta = { 'parley/seq': seq, 'parley/at': 1_000 * seq, 'parley/turn': turn }
    return { kind: 'update', params: { update, _meta } } as const
  }
  const call = (status: string, kind = 'tool_call_update'): Update => ({ sessionUpdate: kind, toolCallId: 'c', status })
  const merged = (first: number, { params }: ReturnType<typeof at>): TranscriptEvent => {
    const _meta = { ...params._meta, 'parley/first': { seq: first, at: 1_000 * first } }
    return { kind: 'update', params: { ...params, _meta } }
  }

  test('an item knows its entries, its times, its turn and who sent it', () => {
    const sent = { update: user('Hi', 'u'), _meta: { 'parley/seq': 3, 'parley/at': 5, 'parley/by': 'Ada' } }
    const { items } = withNews(emptyTranscript, [
      { kind: 'update', params: sent },
      at(4, call('pending', 'tool_call')),
      at(9, call('completed')),
      at(10, agent('a', 'm')),
      merged(11, at(14, agent('bcd', 'm'))),
    ])
    expect(items).toMatchObject([
      { id: 'user u', seq: { first: 3, last: 3 }, at: { first: 5, last: 5 }, by: 'Ada' },
      { id: 'call t1 c', seq: { first: 4, last: 9 }, at: { first: 4_000, last: 9_000 }, turn: 't1' },
      { id: 'agent m', seq: { first: 10, last: 14 }, at: { first: 10_000, last: 14_000 } },
    ])
  })

  test('a tool call id that is used again in another turn is another call', () => {
    const { items } = withNews(emptyTranscript, [
      at(1, call('completed', 'tool_call')),
      at(2, call('pending', 'tool_call'), 't2'),
      at(3, call('failed'), 't2'),
    ])
    expect(items.map((item) => [item.id, item.kind === 'tool_call' && item.call.status])).toEqual([
      ['call t1 c', 'completed'],
      ['call t2 c', 'failed'],
    ])
  })

  test('a call has its permission request, and then its outcome', () => {
    const options = [{ optionId: 'yes', name: 'Allow', kind: 'allow_once' }]
    const question = { requestId: 'q', turn: 't1', toolCall: { toolCallId: 'c' }, options }
    const asked = withNews(emptyTranscript, [at(1, call('pending', 'tool_call')), { kind: 'asked', question }])
    expect(asked.items).toMatchObject([{ id: 'call t1 c', permission: { requestId: 'q', options } }])
    const outcome = { outcome: 'selected', optionId: 'yes', kind: 'allow_once' }
    const resolved = { requestId: 'q', toolCallId: 'c', outcome, by: 'phone', at: 7 }
    const after = withNews(asked, [{ kind: 'resolved', resolved }])
    expect(after.items).toMatchObject([{ permission: { options, resolved: { outcome, by: 'phone', at: 7 } } }])
    expect(withNews(emptyTranscript, [{ kind: 'asked', question }]).items).toMatchObject([{ id: 'call t1 c' }])
    expect(withNews(emptyTranscript, [{ kind: 'resolved', resolved }]).items).toEqual([])
  })

  test('only what changed is another object', () => {
    const before = withNews(emptyTranscript, [
      at(1, user('Hi', 'u')),
      at(2, agent('a', 'm')),
      at(3, call('pending', 'tool_call')),
    ])
    const after = withNews(before, [at(4, agent('b', 'm'))])
    expect(after.items.map((item, index) => item === before.items[index])).toEqual([true, false, true])
    const older = withOlder(after, { updates: [], resolved: [] })
    expect(older.items.every((item, index) => item === after.items[index])).toBe(true)
  })

  test('two transcripts that continue the same one are independent', () => {
    const before = withNews(emptyTranscript, [at(1, agent('a', 'm'))])
    const one = withNews(before, [at(2, agent('b', 'n')), at(3, agent('c', 'n'))])
    const other = withNews(before, [at(2, agent('x', 'o')), at(3, agent('y', 'm'))])
    const texts = ({ items }: Transcript) => items.map((item) => item.kind === 'message' && item.content[0]?.text)
    expect([texts(before), texts(one), texts(other)]).toEqual([['a'], ['a', 'bc'], ['ay', 'x']])
  })

  /** What a session of some turns tells, entry by entry. */
  const session = array(constantFrom('user', 'word', 'thought', 'call', 'patch', 'usage'), {
    minLength: 1,
    maxLength: 60,
  }).map((kinds) => {
    let turn = 0
    return kinds.map((kind, index) => {
      if (kind === 'user') turn += 1
      const updates: Readonly<Record<string, Update>> = {
        user: user('Go on.', `t${turn}-user`),
        word: agent(`w${index} `, `t${turn}-m${index >> 3}`),
        thought: thought(`h${index} `, `t${turn}-h`),
        call: { sessionUpdate: 'tool_call', toolCallId: `c${turn}-${index >> 2}`, title: 'Look', status: 'pending' },
        patch: { sessionUpdate: 'tool_call_update', toolCallId: `c${turn}-${index >> 2}`, status: 'completed' },
        usage: { sessionUpdate: 'usage_update', used: index },
      }
      return at(index + 1, updates[kind] ?? expect.fail('no such kind'), `t${turn}`)
    })
  })

  test('a session loaded page by page from its end equals one loaded from its beginning', () => {
    assert(
      property(session, array(nat(60), { maxLength: 6 }), (news, cuts) => {
        const places = [...new Set([0, ...cuts.filter((cut) => cut < news.length), news.length])].toSorted(
          (one, other) => one - other,
        )
        let loaded: Transcript = emptyTranscript
        for (let index = places.length - 1; index > 0; index -= 1) {
          const updates = news.slice(places[index - 1], places[index]).map(({ params }) => params)
          loaded = withOlder(loaded, { updates, resolved: [] })
        }
        expect(loaded.items).toEqual(withNews(emptyTranscript, news).items)
      }),
    )
  })

  describe('a tool call that is in a page and in live updates without turn ids', () => {
    const page = (status: string) => ({
      updates: [
        { update: call(status, 'tool_call'), _meta: { 'parley/seq': 1, 'parley/turn': 't1' } },
        { update: agent('b', 'm'), _meta: { 'parley/seq': 2, 'parley/turn': 't1' } },
      ],
      resolved: [],
    })
    const live = (update: Update) => withUpdates(emptyTranscript, [update, agent('c', 'n')])
    const shown = ({ items }: Transcript) =>
      items.map((item) => (item.kind === 'tool_call' ? `${item.id} ${item.call.status}` : item.id))

    test.each([
      ['in_progress', completed('c')],
      ['in_progress', { ...look, toolCallId: 'c', status: 'completed' }],
      ['completed', completed('c')],
    ])('is one call, at its first place: %s, then %j', (status, update) => {
      expect(shown(withOlder(live(update), page(status)))).toEqual(['call t1 c completed', 'agent m', 'agent n'])
    })

    test('is two calls when the first had ended and its id is used again', () => {
      const again = live({ ...look, toolCallId: 'c', status: 'pending' })
      const items = ['call t1 c completed', 'agent m', 'call c pending', 'agent n']
      expect(shown(withOlder(again, page('completed')))).toEqual(items)
    })
  })

  test('items dropped from a long transcript are the same when they are loaded again', () => {
    assert(
      property(session, nat(40), (news, keep) => {
        const all = withNews(emptyTranscript, news)
        const rest = withoutOldest(all, keep)
        const from = rest.items[0]?.seq?.first ?? news.length + 1
        const updates = news.filter((_one, index) => index + 1 < from).map(({ params }) => params)
        expect(withOlder(rest, { updates, resolved: [] }).items).toEqual(all.items)
      }),
    )
  })
})
