/** Joined or not, an answer says the same. */
import { array, assert, constantFrom, nat, oneof, property, string, tuple } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { SseChunkMerger } from './answer-parts.ts'

interface Format {
  readonly adds: (text: string, kind: 'text' | 'thought') => string
  readonly read: (event: string) => { readonly text: string; readonly rest: string } | undefined
}

/** The text of an event, and all else that it says. */
function reader(find: RegExp, path: (value: never) => [object, string] | undefined): Format['read'] {
  return (event) => {
    if (!find.test(event)) return undefined
    const value = JSON.parse(event.slice(event.indexOf('data: ') + 6)) as never
    const [holder, key] = path(value) ?? []
    if (holder === undefined || key === undefined) return undefined
    const text = (holder as Record<string, string>)[key] ?? ''
    Object.assign(holder, { [key]: '' })
    return { text, rest: JSON.stringify(value) }
  }
}

const formats: Readonly<Record<string, Format>> = {
  openai: {
    adds: (text, kind) =>
      `data: {"id":"c","choices":[{"index":0,"delta":{"${kind === 'text' ? 'content' : 'reasoning_content'}":${JSON.stringify(text)}},"finish_reason":null}]}`,
    read: reader(/"delta":\{"/u, ({ choices: [{ delta }] }: { choices: [{ delta: object }] }) => [
      delta,
      Object.keys(delta)[0] ?? '',
    ]),
  },
  anthropic: {
    adds: (text, kind) =>
      `event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"${kind === 'text' ? 'text' : 'thinking'}_delta","${kind === 'text' ? 'text' : 'thinking'}":${JSON.stringify(text)}}}`,
    read: reader(/_delta"/u, ({ delta }: { delta: object }) => [delta, Object.keys(delta)[1] ?? '']),
  },
  google: {
    adds: (text, kind) =>
      `data: {"candidates":[{"content":{"role":"model","parts":[{"text":${JSON.stringify(text)}${kind === 'text' ? '' : ',"thought":true'}}]}}]}`,
    read: reader(/"parts":/u, (value: { candidates: [{ content: { parts: [object] } }] }) => [
      value.candidates[0].content.parts[0],
      'text',
    ]),
  },
}

const said = oneof(
  string({ unit: 'binary' }),
  constantFrom('', '"', '\\', '\\"}}', 'Wörter 🚀', '"}}]}\n\ndata: x', '","content":"'),
)
const ends = ['data: [DONE]', 'data: {"error":{"message":"no"}}']
const other = constantFrom(': ping', ...ends, 'event: x\ndata: {}', 'data: {')

/** What is heard of an answer that comes in these cuts: each text with what stood around it, and all else as it was. */
function heard(format: Format, stream: string, cuts: readonly number[]): readonly unknown[] {
  const runs = new SseChunkMerger()
  const bytes = Buffer.from(stream)
  const places = [...cuts.map((cut) => cut % (bytes.length + 1)), 0, bytes.length].toSorted((a, b) => a - b)
  const read = places.slice(1).map((place, at) => runs.join(bytes.subarray(places[at], place)))
  const text = Buffer.concat([...read, runs.rest()]).toString()
  return text.split('\n\n').flatMap((event): readonly unknown[] => {
    const found = format.read(event)
    if (found === undefined) return [event]
    // An empty text has no pieces.
    if (found.text === '') return []
    return (runs.pieces(found.text) ?? [found.text])
      .filter((piece) => piece !== '')
      .map((piece) => [piece, found.rest] as const)
  })
}

describe.each(Object.entries(formats))('an answer in the format of %s', (_name, format) => {
  type Said = (at: number) => string
  const addition = tuple(said, constantFrom('text' as const, 'thought' as const))
  // No two are the same: pieces are found by their text.
  const adds = addition.map(
    ([text, kind]): Said =>
      (at) =>
        format.adds(text && `${text}${at}`, kind),
  )
  const says = other.map(
    (line): Said =>
      () =>
        line,
  )
  const event = oneof({ weight: 4, arbitrary: adds }, { weight: 1, arbitrary: says })

  test('has the same content however it is split', () => {
    assert(
      property(array(event, { maxLength: 12 }), array(nat(2_000), { maxLength: 5 }), (events, cuts) => {
        const stream = events.map((one, at) => `${one(at)}\n\n`).join('')
        const plain = stream.split('\n\n').flatMap((one): readonly unknown[] => {
          const found = format.read(one)
          if (found === undefined) return [one]
          return found.text === '' ? [] : [[found.text, found.rest]]
        })
        expect(heard(format, stream, cuts)).toEqual(plain)
      }),
      { numRuns: 200 },
    )
  })

  test('is one event where it arrives at once', () => {
    const runs = new SseChunkMerger()
    const stream = ['a', 'b "quoted" \\', '🚀'].map((text) => `${format.adds(text, 'text')}\n\n`).join('')
    const joined = Buffer.from(runs.join(Buffer.from(stream))).toString()
    expect(joined).toBe(`${format.adds('ab "quoted" \\🚀', 'text')}\n\n`)
    expect(runs.pieces('ab "quoted" \\🚀')).toEqual(['a', 'b "quoted" \\', '🚀'])
  })
})

describe('what is not understood is passed on unchanged', () => {
  const add = (text: string, more = '') => `data: {"choices":[{"delta":{"content":"${text}"${more}}}]}\n\n`

  test.each([
    ['lines that end with a carriage return', add('a').replaceAll('\n', '\r\n').repeat(2)],
    ['a page', '<html>Welcome</html>'],
    ['text beside other words', add('a', ',"tool_calls":[1]').repeat(2)],
    ['letters that JSON does not know', add(String.raw`\x`).repeat(2)],
    ['numbered events', `id: 1\n${add('a')}id: 2\n${add('a')}`],
    ['a line that is too long', add('x'.repeat(70_000)).slice(0, -1)],
  ])('%s', (_what, stream) => {
    const runs = new SseChunkMerger()
    const bytes = Buffer.from(stream)
    const step = Math.ceil(bytes.length / 500)
    const out = Array.from({ length: 500 }, (_, at) => runs.join(bytes.subarray(at * step, (at + 1) * step)))
    expect(Buffer.concat([...out, runs.rest()]).toString()).toBe(stream)
    const whole = new SseChunkMerger()
    expect(Buffer.concat([whole.join(Buffer.from(stream)), whole.rest()]).toString()).toBe(stream)
  })
})
