/**
 * Answers in the shapes of real providers, replayed byte by byte: `test/fixtures/providers/KIND/NAME.sse` are whole streams,
 * `failures.json` answers that refuse.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { heard } from '../../../test/model-server/heard.ts'
import type { ModelEnd, ModelPart } from '../../ports/model.ts'
import type { ProviderKind } from '../../ports/values/provider.ts'

const recorded = new URL('../../../test/fixtures/providers/', import.meta.url)

/** Part by part: text as it is, thoughts in parentheses, calls with their arguments. */
interface Answer {
  readonly says: readonly string[]
  readonly reason: ModelEnd['reason']
  /** Input, output, read from and written to a cache. */
  readonly usage: readonly [number, number, number, number]
}

const answers: Readonly<Record<string, Answer>> = {
  'anthropic/text': { says: ['Grüße vom 🚀.'], reason: 'stop', usage: [1212, 9, 1000, 200] },
  'anthropic/thinking-and-calls': {
    says: ['(Both files.)', 'I look.', 'look {"at":"src/ü.ts","lines":[1,2]}', 'list {}'],
    reason: 'calls',
    usage: [1212, 57, 1000, 200],
  },
  'anthropic/redacted-thinking': { says: ['()', '()', 'Done.'], reason: 'stop', usage: [1212, 30, 1000, 200] },
  'anthropic/refusal': { says: ['First, '], reason: 'refusal', usage: [1212, 3, 1000, 200] },
  'anthropic/cut-call': { says: ['write {"text": "half a f …'], reason: 'length', usage: [1212, 64, 1000, 200] },
  'anthropic/window-full': { says: ['As far as'], reason: 'length', usage: [1212, 4, 1000, 200] },
  'openai/text': { says: ['Grüße vom 🚀.'], reason: 'stop', usage: [1212, 90, 1024, 0] },
  'openai/calls': { says: ['look {"at":"src/ü.ts"}', 'list {}'], reason: 'calls', usage: [1212, 90, 1024, 0] },
  'openai/refusal': { says: ['I cannot help with that.'], reason: 'refusal', usage: [1212, 90, 1024, 0] },
  'openai/azure-filtered': { says: ['First, '], reason: 'refusal', usage: [0, 0, 0, 0] },
  'openai/deepseek-thinking': {
    says: ['(Both files.)', 'I look.', 'look {"at":"a"}'],
    reason: 'calls',
    usage: [300, 40, 256, 0],
  },
  'openai/openrouter-thinking': { says: ['(Short thought.)', 'Yes.'], reason: 'stop', usage: [20, 8, 0, 0] },
  'openai/mistral-thinking': {
    says: ['(Both files.)', 'I look.', 'look {"at":"a"}', 'look {"at":"b"}'],
    reason: 'calls',
    usage: [70, 40, 0, 0],
  },
  'google/text': { says: ['Grüße vom 🚀.'], reason: 'stop', usage: [1200, 71, 1024, 0] },
  'google/thinking-and-calls': {
    says: ['(**Both files**\n)', 'I look.', 'look {"at":"src/ü.ts","lines":[1,2]}', 'list {}'],
    reason: 'calls',
    usage: [1200, 71, 1024, 0],
  },
  'google/blocked-prompt': { says: [], reason: 'refusal', usage: [9, 0, 0, 0] },
  'google/safety': { says: ['First, '], reason: 'refusal', usage: [1200, 71, 1024, 0] },
  'google/max-tokens': { says: ['As far as'], reason: 'length', usage: [1200, 71, 1024, 0] },
  'google/end-without-content': { says: ['Yes.'], reason: 'stop', usage: [1200, 71, 1024, 0] },
}

/** Streams that fail in the middle. */
const broken: Readonly<Record<string, readonly [code: string, words: string]>> = {
  'anthropic/overloaded': ['MODEL_OVERLOADED', 'overloaded'],
  'openai/openrouter-failing': ['MODEL_OVERLOADED', 'overloaded'],
  'openai/groq-failing': ['MODEL_REFUSED', 'Failed to call a function'],
  'openai/vllm-failing': ['MODEL_OVERLOADED', 'failing'],
  'openai/llama-cpp-failing': ['MODEL_CONTEXT', ''],
  'google/malformed-call': ['MODEL_STREAM', 'MALFORMED_FUNCTION_CALL'],
  'google/failing': ['MODEL_OVERLOADED', 'overloaded'],
}

/** Through letters of several bytes, through lines and events, and at once. */
const CUTS = [1, 7, 1_000_000]

function kindOf(name: string): ProviderKind {
  return name.slice(0, name.indexOf('/')) as ProviderKind
}

function replayed(name: string, everyBytes: number): Promise<readonly ModelPart[]> {
  const replay = readFileSync(new URL(`${name}.sse`, recorded), 'utf8')
  return heard(kindOf(name), [{ replay, everyBytes }])
}

function told(parts: readonly ModelPart[]): Answer {
  const end = parts.at(-1)
  if (end?.kind !== 'end') throw new Error('a stream ends with its end')
  const { input, output, cacheRead, cacheWrite } = end.usage
  const says = end.message.parts.map((part) => {
    if (part.kind === 'thought') return `(${part.text})`
    if (part.kind === 'text') return part.text
    return `${part.name} ${part.malformed === undefined ? JSON.stringify(part.args) : `${part.malformed} …`}`
  })
  return { says, reason: end.reason, usage: [input, output, cacheRead, cacheWrite] }
}

/** What users read while it comes. */
function streamed(parts: readonly ModelPart[], kind: 'text' | 'thought'): string {
  return parts.flatMap((part) => (part.kind === kind ? [part.text] : [])).join('')
}

test('every recorded stream has a test case', () => {
  const names = (['anthropic', 'openai', 'google'] as const).flatMap((kind) =>
    readdirSync(new URL(kind, recorded)).map((file) => `${kind}/${file.replace(/\.sse$/u, '')}`),
  )
  expect(names.toSorted()).toEqual([...Object.keys(answers), ...Object.keys(broken)].toSorted())
})

describe.each(CUTS)('in pieces of %i bytes', (everyBytes) => {
  test.each(Object.entries(answers))('%s', async (name, answer) => {
    const parts = await replayed(name, everyBytes)
    expect(told(parts)).toEqual(answer)
    const { message } = parts.at(-1) as ModelEnd
    for (const kind of ['text', 'thought'] as const) {
      const whole = message.parts.flatMap((part) => (part.kind === kind ? [part.text] : [])).join('')
      expect(streamed(parts, kind)).toBe(whole)
    }
    const announced = parts.flatMap((part) => (part.kind === 'calling' ? [part.id] : []))
    expect(announced).toEqual(message.parts.flatMap((part) => (part.kind === 'call' ? [part.id] : [])))
  })

  test.each(Object.entries(broken))('%s', async (name, [code, words]) => {
    const failing = replayed(name, everyBytes)
    await expect(failing).rejects.toMatchObject({ code, message: expect.stringContaining(words) })
  })
})

test.each([
  ['anthropic/thinking-and-calls', ['c2lnbmF0dXJlLTE=', 'toolu_01First', 'toolu_02Second']],
  ['anthropic/redacted-thinking', ['b3BhcXVl', 'c2lnbmF0dXJlLTI=']],
  ['google/text', ['c2lnbmF0dXJlLTM=']],
  ['google/thinking-and-calls', ['c2lnbmF0dXJlLTQ=', 'fc-1']],
  ['openai/calls', ['call_First', 'call_Second']],
])('metadata that a provider needs back is kept of %s', async (name, kept) => {
  const { message } = (await replayed(name, 7)).at(-1) as ModelEnd
  const provider = JSON.stringify(message.parts.map((part) => part.provider))
  for (const value of kept) expect(provider).toContain(value)
})

interface Failing {
  readonly name: string
  readonly kind: ProviderKind
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: unknown
  readonly code: string
  readonly retryAfterMs?: number
}

const failures = JSON.parse(readFileSync(new URL('failures.json', recorded), 'utf8')) as readonly Failing[]

test.each(failures)('$name', async ({ kind, status, headers = {}, body, code, retryAfterMs }) => {
  const failing = heard(kind, [{ status, headers, body: JSON.stringify(body) }])
  const details = retryAfterMs === undefined ? {} : { retryAfterMs }
  await expect(failing).rejects.toMatchObject({ code, details })
})
