/** Conversations of every shape, as providers are sent them. */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Content } from '../../../ports/values/content.ts'
import type { AssistantPart, ModelMessage } from '../../../ports/model.ts'
import { type PromptRules, promptOf, toolsOf, type ConvertedMessages } from './prompt.ts'

const text = fc.record({ type: fc.constant('text' as const), text: fc.string() })
const blob = 'aGk='
const picture = fc
  .constantFrom('image/png', 'image/webp')
  .map((mimeType) => ({ type: 'image', data: blob, mimeType }) as const)
const resource = fc.constantFrom('application/pdf', 'x/y').map((mimeType) => {
  return { type: 'resource', resource: { uri: 'file:///a', blob, mimeType } } as const
})
const contents: fc.Arbitrary<readonly Content[]> = fc.array(fc.oneof(text, picture, resource), { maxLength: 3 })
const metadata = fc.constant({ p: { signature: 's' } })
const kept = fc.record({ from: fc.constantFrom('p', 'q'), id: fc.constantFrom('c0', 'c1'), metadata })
const keepsake = fc.option(kept, { nil: undefined })
const said: fc.Arbitrary<AssistantPart> = fc.oneof(
  fc.record({ kind: fc.constantFrom('text' as const, 'thought' as const), text: fc.string(), provider: keepsake }),
  fc.record({
    kind: fc.constant('call' as const),
    id: fc.uuid(),
    name: fc.constant('look'),
    args: fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue()),
    provider: keepsake,
  }),
)

/** A turn: a user asks, the model says something, each of its calls gets a result. */
const turn = fc
  .record({ asked: contents, parts: fc.array(said, { maxLength: 4 }), shown: contents, isError: fc.boolean() })
  .map(({ asked, parts, shown: content, isError }): readonly ModelMessage[] => {
    const calls = parts.filter((part) => part.kind === 'call')
    const results = calls.map(({ id, name }) => ({ id, name, content, isError }))
    const said: readonly ModelMessage[] = [
      { role: 'user', content: asked },
      { role: 'assistant', parts },
    ]
    return results.length === 0 ? said : said.concat({ role: 'tool', results })
  })
const conversation = fc.array(turn, { maxLength: 5 }).map((turns) => turns.flat())

const nothing = { image: false, audio: false, pdf: false }
const plain: PromptRules = { provider: 'p', takes: nothing, picturesInResults: false, thoughts: false, turns: false }

const manners = fc.record({
  provider: fc.constant('p'),
  takes: fc.record({ image: fc.boolean(), audio: fc.boolean(), pdf: fc.boolean() }),
  picturesInResults: fc.boolean(),
  thoughts: fc.boolean(),
  turns: fc.boolean(),
})

test('half of a surrogate pair is never sent', () => {
  const half = 'cut \uD83D'
  const messages: readonly ModelMessage[] = [
    { role: 'user', content: [{ type: 'text', text: `${half} 😀` }] },
    {
      role: 'assistant',
      parts: [
        { kind: 'text', text: half },
        { kind: 'call', id: 'c', name: 'look', args: { [half]: [{ at: half }] } },
      ],
    },
    { role: 'tool', results: [{ id: 'c', name: 'look', content: [{ type: 'text', text: half }], isError: false }] },
  ]
  const tools = toolsOf([{ name: 'look', description: half, schema: { description: half } }])
  const sent = JSON.stringify([promptOf({ system: half, messages }, plain), tools])
  // Only halves are escaped by JSON.
  expect(sent).not.toMatch(/\\ud[89a-f]/iu)
  expect(sent).toContain('cut \uFFFD 😀')
  expect(sent.split('cut \uFFFD')).toHaveLength(9)
})

test('an image that no provider accepts is named instead, for it would make every later request fail', () => {
  const manner = { ...plain, takes: { image: true, audio: false, pdf: true } }
  const shown = (mimeType: string, data: string) => {
    const content = [{ type: 'image', mimeType, data } as const]
    return promptOf({ system: '', messages: [{ role: 'user', content }] }, manner)[0]?.content
  }
  const file = (mediaType: string) => [{ type: 'file', data: 'aGk=', mediaType }]
  const text = (words: string) => [{ type: 'text', text: expect.stringContaining(words) }]
  expect(shown('image/png', 'aG\nk=')).toEqual(file('image/png'))
  expect(shown('image/jpg', 'aGk=')).toEqual(file('image/jpeg'))
  expect(shown('image/svg+xml', 'aGk=')).toEqual(text('cannot take it'))
  for (const data of ['!!!', '', 'data:image/png;base64,aGk='])
    expect(shown('image/png', data)).toEqual(text('not in base64'))
})

test('the request for a longer conversation begins with the request for its beginning (prompt caching)', () => {
  fc.assert(
    fc.property(conversation, manners, fc.nat(), (messages, manner, cut) => {
      const whole = promptOf({ system: 's', messages }, manner)
      const part = promptOf({ system: 's', messages: messages.slice(0, cut % (messages.length + 1)) }, manner)
      expect(whole.slice(0, part.length)).toEqual(part)
    }),
  )
})

test('no role comes twice in a row, nor the user right after tools, where roles must alternate', () => {
  fc.assert(
    fc.property(conversation, manners, (messages, manner) => {
      const roles = promptOf({ system: '', messages }, { ...manner, turns: true }).map(({ role }) => role)
      expect(roles.join(' ')).not.toMatch(/(?:user|tool) user/u)
    }),
  )
})

test('cached messages of another request are sent as they would be rendered now', () => {
  fc.assert(
    fc.property(conversation, manners, fc.tuple(fc.nat(), fc.nat()), (messages, manner, [start, cut]) => {
      const written: ConvertedMessages = new WeakMap()
      promptOf({ system: 's', messages: messages.slice(0, cut % (messages.length + 1)) }, manner, written)
      // What came first may have been made shorter.
      const later = { system: 's', messages: messages.slice(start % (messages.length + 1)) }
      expect(promptOf(later, manner, written)).toEqual(promptOf(later, manner))
    }),
  )
})

test('calls and their results have the same unique ids, and no message is empty', () => {
  fc.assert(
    fc.property(conversation, manners, (messages, manner) => {
      const prompt = promptOf({ system: '', messages }, manner)
      const calls = prompt.flatMap(({ content }) => partsIn(content).filter(({ type }) => type === 'tool-call'))
      const results = prompt.flatMap(({ content }) => partsIn(content).filter(({ type }) => type === 'tool-result'))
      expect(results.map(({ toolCallId }) => toolCallId)).toEqual(calls.map(({ toolCallId }) => toolCallId))
      expect(new Set(calls.map(({ toolCallId }) => toolCallId)).size).toBe(calls.length)
      for (const { role, content } of prompt) expect(`${role} ${content.length}`).not.toMatch(/ 0$/u)
      for (const { input } of calls) expect(Object.prototype.toString.call(input)).toBe('[object Object]')
    }),
  )
})

test('signatures and thoughts are sent only to the provider that created them', () => {
  const signed = (from: string) => ({ from, metadata: { p: { signature: from } } })
  const messages: readonly ModelMessage[] = [
    { role: 'user', content: [{ type: 'text', text: 'a' }] },
    {
      role: 'assistant',
      parts: [
        { kind: 'thought', text: '', provider: signed('p') },
        { kind: 'thought', text: 'theirs', provider: signed('q') },
        { kind: 'text', text: 'b', provider: signed('q') },
      ],
    },
  ]
  const takes = { image: true, audio: true, pdf: true }
  const manner: PromptRules = { provider: 'p', takes, picturesInResults: true, thoughts: true, turns: false }
  expect(promptOf({ system: '', messages }, manner)[1]).toEqual({
    role: 'assistant',
    content: [
      { type: 'reasoning', text: '', providerOptions: { p: { signature: 'p' } } },
      { type: 'text', text: 'b' },
    ],
  })
})

interface Part {
  readonly type: string
  readonly toolCallId?: string
  readonly input?: unknown
}

function partsIn(content: unknown): readonly Part[] {
  return Array.isArray(content) ? (content as readonly Part[]) : []
}

test('a tool with an unusual name is sent under a name that every provider accepts', () => {
  const names = ['functions.read_file', 'ä ö', '', 'x'.repeat(200), 'files__read-2']
  const messages: readonly ModelMessage[] = [
    { role: 'assistant', parts: names.map((name, at) => ({ kind: 'call', id: `c${at}`, name, args: {} })) },
    { role: 'tool', results: names.map((name, at) => ({ id: `c${at}`, name, content: [], isError: true })) },
  ]
  const sent = promptOf({ system: '', messages }, plain).flatMap(({ content }) =>
    typeof content === 'string' ? [] : content.flatMap((part) => ('toolName' in part ? [part.toolName] : [])),
  )
  const fit = ['functions_read_file', '___', '_', 'x'.repeat(64), 'files__read-2']
  expect(sent).toEqual([...fit, ...fit])
})
