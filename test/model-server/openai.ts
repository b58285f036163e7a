/** Chat completions as OpenAI streams them. */
import { type Body, inPieces, partsOf, type Refusal, sse, textOf, type Wire } from './format.ts'
import type { AskedMessage, Failure } from './script.ts'
import type { Event } from './turn.ts'

const STOPS = { stop: 'stop', calls: 'tool_calls', length: 'length', refusal: 'content_filter' } as const

export const openai: Wire = {
  read(body) {
    const messages = partsOf(body['messages'])
    const isSystem = (message: Body) => message['role'] === 'system' || message['role'] === 'developer'
    return {
      model: String(body['model']),
      system: messages
        .filter(isSystem)
        .map((message) => textOf(message['content']))
        .join('\n'),
      messages: messages.filter((message) => !isSystem(message)).map(messageOf),
      tools: partsOf(body['tools']).map((tool) => String((tool['function'] as Body)['name'])),
    }
  },
  writer: (model) => (event) => eventOf(event, (choice, rest = {}) => chunk(model, choice, rest)),
  models: (names) => ({
    object: 'list',
    data: names.map((id) => ({ id, object: 'model', created: 1_700_000_000, owned_by: 'scripted' })),
  }),
  failure: (failure, words) => {
    const { status, message, type, code } = FAILURES[failure]
    return { status, body: { error: { message: words ?? message, type, param: null, code } } }
  },
  broken: ({ body }: Refusal) => sse(body),
}

function messageOf(message: Body): AskedMessage {
  const { role, content } = message
  const text = textOf(content)
  if (role === 'tool')
    return { role, text: '', calls: [], results: [{ id: String(message['tool_call_id']), text }], pictures: [] }
  const calls = partsOf(message['tool_calls']).map((call) => {
    const { name, arguments: json } = call['function'] as { name: string; arguments: string }
    return { id: String(call['id']), name, args: JSON.parse(json) as unknown }
  })
  const pictures = partsOf(content).flatMap((part) =>
    part['type'] === 'image_url'
      ? [/^data:([^;]+);/u.exec((part['image_url'] as { url: string }).url)?.[1] ?? 'url']
      : [],
  )
  return { role: role === 'assistant' ? 'assistant' : 'user', text, calls, results: [], pictures }
}

type Chunk = (choices: readonly unknown[], rest?: object) => string

function eventOf(event: Event, write: Chunk): string {
  const delta = (said: object) => write([{ index: 0, delta: said, finish_reason: null }])
  switch (event.kind) {
    case 'text':
      return delta({ content: event.text })
    case 'reasoning':
      return delta({ reasoning_content: event.text })
    case 'call':
      return callOf(event, delta)
    case 'raw':
      return event.raw
    case 'end':
      return `${write([{ index: 0, delta: {}, finish_reason: STOPS[event.stop] }])}${write([], { usage: usageOf(event) })}data: [DONE]\n\n`
  }
}

function callOf({ index, id, name, json }: Extract<Event, { kind: 'call' }>, delta: (said: object) => string): string {
  const begin = delta({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] })
  const rest = inPieces(json).map((piece) => delta({ tool_calls: [{ index, function: { arguments: piece } }] }))
  return begin + rest.join('')
}

function usageOf({ usage }: Extract<Event, { kind: 'end' }>): object {
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cacheRead ?? 0 },
  }
}

function chunk(model: string, choices: readonly unknown[], rest: object): string {
  return sse({
    id: 'chatcmpl-scripted',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model,
    choices,
    ...rest,
  })
}

interface Row {
  readonly status: number
  readonly message: string
  readonly type: string
  readonly code: string | null
}

const INVALID = 'invalid_request_error'

const FAILURES: Readonly<Record<Failure, Row>> = {
  key: {
    status: 401,
    message:
      'Incorrect API key provided: sk-sc****ted. You can find your API key at https://platform.openai.com/account/api-keys.',
    type: INVALID,
    code: 'invalid_api_key',
  },
  forbidden: {
    status: 403,
    message: 'Country, region, or territory not supported',
    type: 'request_forbidden',
    code: 'unsupported_country_region_territory',
  },
  'unknown-model': {
    status: 404,
    message: 'The model `scripted` does not exist or you do not have access to it.',
    type: INVALID,
    code: 'model_not_found',
  },
  'rate-limit': {
    status: 429,
    message: 'Rate limit reached for scripted in organization org-x on tokens per min (TPM): Limit 30000, Used 29000.',
    type: 'tokens',
    code: 'rate_limit_exceeded',
  },
  quota: {
    status: 429,
    message: 'You exceeded your current quota, please check your plan and billing details.',
    type: 'insufficient_quota',
    code: 'insufficient_quota',
  },
  overloaded: {
    status: 503,
    message: 'That model is currently overloaded with other requests.',
    type: 'server_error',
    code: null,
  },
  server: {
    status: 500,
    message: 'The server had an error while processing your request. Sorry about that!',
    type: 'server_error',
    code: null,
  },
  context: {
    status: 400,
    message: "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
    type: INVALID,
    code: 'context_length_exceeded',
  },
  invalid: { status: 400, message: "Invalid value for 'messages[0].content'.", type: INVALID, code: null },
}
