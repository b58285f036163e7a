/** Messages as Anthropic streams them. */
import { type Body, inPieces, partsOf, type Refusal, sse, textOf, type Wire } from './format.ts'
import type { AskedMessage, Failure } from './script.ts'
import type { Event } from './turn.ts'

const STOPS = { stop: 'end_turn', calls: 'tool_use', length: 'max_tokens', refusal: 'refusal' } as const

export const anthropic: Wire = {
  read(body) {
    return {
      model: String(body['model']),
      system: textOf(body['system']),
      messages: partsOf(body['messages']).flatMap(messagesOf),
      tools: partsOf(body['tools']).map((tool) => String(tool['name'])),
    }
  },
  writer,
  models: (names) => ({
    data: names.map((id) => ({ type: 'model', id, display_name: id, created_at: '2026-01-01T00:00:00Z' })),
    has_more: false,
    first_id: names[0] ?? null,
    last_id: names.at(-1) ?? null,
  }),
  failure: (failure, words) => {
    const [status, type, message] = FAILURES[failure]
    return { status, body: { type: 'error', error: { type, message: words ?? message }, request_id: 'req_scripted' } }
  },
  broken: ({ body }: Refusal) => sse(body, 'error'),
}

/** A user message may hold results and words: two messages for who reads them. */
function messagesOf(message: Body): readonly AskedMessage[] {
  const content = message['content']
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : partsOf(content)
  const of = (type: string) => parts.filter((part: Body) => part['type'] === type)
  const calls = of('tool_use').map((part: Body) => ({
    id: String(part['id']),
    name: String(part['name']),
    args: part['input'],
  }))
  const results = of('tool_result').map((part: Body) => ({
    id: String(part['tool_use_id']),
    text: textOf(part['content']),
  }))
  const pictures = of('image').map((part: Body) => String((part['source'] as Body)['media_type']))
  const text = textOf(of('text'))
  const said = {
    role: message['role'] === 'assistant' ? 'assistant' : 'user',
    text,
    calls,
    results: [],
    pictures,
  } as const
  if (results.length === 0) return [said]
  const told = { role: 'tool', text: '', calls: [], results, pictures: [] } as const
  return text === '' && pictures.length === 0 ? [told] : [told, said]
}

type Open = { readonly kind: 'text' | 'reasoning' | 'call' }

/** Blocks are opened and closed as what is said changes its kind. */
function writer(model: string): (event: Event) => string {
  let index = -1
  let open: Open | undefined
  let begun = false
  const head = (): string => {
    if (begun) return ''
    begun = true
    const usage = { input_tokens: 1, output_tokens: 1 }
    const message = {
      id: 'msg_scripted',
      type: 'message',
      role: 'assistant',
      model,
      content: [],
      stop_reason: null,
      usage,
    }
    return sse({ type: 'message_start', message }, 'message_start') + sse({ type: 'ping' }, 'ping')
  }
  const close = (): string => {
    if (open === undefined) return ''
    const sealed = open.kind === 'reasoning' ? delta(index, { type: 'signature_delta', signature: `sig-${index}` }) : ''
    open = undefined
    return sealed + sse({ type: 'content_block_stop', index }, 'content_block_stop')
  }
  const begin = (kind: Open['kind'], block: object): string => {
    if (open?.kind === kind && kind !== 'call') return ''
    const closed = close()
    open = { kind }
    index += 1
    return closed + sse({ type: 'content_block_start', index, content_block: block }, 'content_block_start')
  }
  return (event) => {
    switch (event.kind) {
      case 'text':
        return (
          head() + begin('text', { type: 'text', text: '' }) + delta(index, { type: 'text_delta', text: event.text })
        )
      case 'reasoning':
        return (
          head() +
          begin('reasoning', { type: 'thinking', thinking: '', signature: '' }) +
          delta(index, { type: 'thinking_delta', thinking: event.text })
        )
      case 'call': {
        const block = { type: 'tool_use', id: event.id, name: event.name, input: {} }
        const start = head() + begin('call', block)
        return (
          start +
          inPieces(event.json)
            .map((piece) => delta(index, { type: 'input_json_delta', partial_json: piece }))
            .join('')
        )
      }
      case 'raw':
        return head() + event.raw
      case 'end':
        return head() + close() + ending(event)
    }
  }
}

function delta(index: number, said: object): string {
  return sse({ type: 'content_block_delta', index, delta: said }, 'content_block_delta')
}

/** Anthropic counts what came from a cache apart. */
function ending({ stop, usage }: Extract<Event, { kind: 'end' }>): string {
  const { input, output, cacheRead = 0, cacheWrite = 0 } = usage
  const counted = {
    input_tokens: input - cacheRead - cacheWrite,
    output_tokens: output,
    cache_read_input_tokens: cacheRead,
    cache_creation_input_tokens: cacheWrite,
  }
  const said = { stop_reason: STOPS[stop], stop_sequence: null }
  return (
    sse({ type: 'message_delta', delta: said, usage: counted }, 'message_delta') +
    sse({ type: 'message_stop' }, 'message_stop')
  )
}

const FAILURES: Readonly<Record<Failure, readonly [number, string, string]>> = {
  key: [401, 'authentication_error', 'invalid x-api-key'],
  forbidden: [403, 'permission_error', 'Your API key does not have permission to use the specified resource.'],
  'unknown-model': [404, 'not_found_error', 'model: scripted'],
  'rate-limit': [
    429,
    'rate_limit_error',
    'This request would exceed the rate limit of 30,000 input tokens per minute.',
  ],
  quota: [400, 'invalid_request_error', 'Your credit balance is too low to access the Anthropic API.'],
  overloaded: [529, 'overloaded_error', 'Overloaded'],
  server: [500, 'api_error', 'Internal server error'],
  context: [400, 'invalid_request_error', 'prompt is too long: 210000 tokens > 200000 maximum'],
  invalid: [400, 'invalid_request_error', 'messages.0.content: Input should be a valid list'],
}
