/** Gemini's streamGenerateContent as Google streams it. */
import { type Body, partsOf, type Refusal, sse, textOf, type Wire } from './format.ts'
import type { AskedMessage, Failure } from './script.ts'
import type { Event } from './turn.ts'

const STOPS = { stop: 'STOP', calls: 'STOP', length: 'MAX_TOKENS', refusal: 'SAFETY' } as const

export const google: Wire = {
  read(body, path) {
    return {
      model: decodeURIComponent(/models\/([^:]+):/u.exec(path)?.[1] ?? ''),
      system: textOf((body['systemInstruction'] as Body | undefined)?.['parts']),
      messages: partsOf(body['contents']).map(messageOf),
      tools: partsOf(body['tools']).flatMap((tool) =>
        partsOf(tool['functionDeclarations']).map((declared) => String(declared['name'])),
      ),
    }
  },
  writer,
  models: (names) => ({
    models: names.map((id) => ({
      name: `models/${id}`,
      displayName: id,
      inputTokenLimit: 1_048_576,
      outputTokenLimit: 65_536,
      supportedGenerationMethods: ['generateContent', 'countTokens'],
    })),
  }),
  failure: (failure, words) => {
    const [code, status, message, details] = FAILURES[failure]
    return { status: code, body: { error: { code, message: words ?? message, status, ...(details && { details }) } } }
  },
  broken: ({ body }: Refusal) => sse(body),
}

function messageOf(message: Body): AskedMessage {
  const parts = partsOf(message['parts'])
  const calls = parts.flatMap((part) => {
    const call = part['functionCall'] as { id?: string; name: string; args: unknown } | undefined
    return call === undefined ? [] : [{ id: call.id ?? '', name: call.name, args: call.args }]
  })
  const results = parts.flatMap((part) => {
    const result = part['functionResponse'] as { id?: string; name: string; response: unknown } | undefined
    return result === undefined ? [] : [{ id: result.id ?? result.name, text: JSON.stringify(result.response) }]
  })
  const pictures = parts.flatMap((part) => {
    const data = part['inlineData'] as Body | undefined
    return data === undefined ? [] : [String(data['mimeType'])]
  })
  const text = textOf(parts.filter((part) => part['thought'] !== true))
  const role = message['role'] === 'model' ? 'assistant' : results.length > 0 ? 'tool' : 'user'
  return { role, text, calls, results, pictures }
}

/** The real one gives calls no ids; the first of a step carries the signature of the thoughts before it. */
function writer(model: string): (event: Event) => string {
  const write = (part: object) =>
    chunk(model, { candidates: [{ content: { role: 'model', parts: [part] }, index: 0 }] })
  return (event) => {
    switch (event.kind) {
      case 'text':
        return write({ text: event.text })
      case 'reasoning':
        return write({ text: event.text, thought: true })
      case 'call': {
        const signature = event.index === 0 ? { thoughtSignature: 'c2lnbmF0dXJl' } : {}
        return write({ functionCall: { name: event.name, args: argsOf(event.json) }, ...signature })
      }
      case 'raw':
        return event.raw
      case 'end': {
        const candidate = {
          content: { role: 'model', parts: [{ text: '' }] },
          finishReason: STOPS[event.stop],
          index: 0,
        }
        return chunk(model, { candidates: [candidate], usageMetadata: usageOf(event) })
      }
    }
  }
}

/** This format has no text of arguments: what is no JSON comes as a text where an object should be. */
function argsOf(json: string): unknown {
  try {
    return JSON.parse(json) as unknown
  } catch {
    return json
  }
}

function usageOf({ usage }: Extract<Event, { kind: 'end' }>): object {
  return {
    promptTokenCount: usage.input,
    candidatesTokenCount: usage.output,
    totalTokenCount: usage.input + usage.output,
    cachedContentTokenCount: usage.cacheRead ?? 0,
  }
}

function chunk(model: string, said: object): string {
  return sse({ ...said, modelVersion: model, responseId: 'scripted' })
}

const RPC = 'type.googleapis.com/google.rpc'

const FAILURES: Readonly<Record<Failure, readonly [number, string, string, (readonly object[])?]>> = {
  key: [
    400,
    'INVALID_ARGUMENT',
    'API key not valid. Please pass a valid API key.',
    [{ '@type': `${RPC}.ErrorInfo`, reason: 'API_KEY_INVALID', domain: 'googleapis.com' }],
  ],
  forbidden: [403, 'PERMISSION_DENIED', 'Permission denied on resource project scripted.'],
  'unknown-model': [404, 'NOT_FOUND', 'models/scripted is not found for API version v1beta.'],
  'rate-limit': [
    429,
    'RESOURCE_EXHAUSTED',
    'You exceeded your current quota, please check your plan and billing details.',
    [
      { '@type': `${RPC}.QuotaFailure`, violations: [{ quotaId: 'GenerateRequestsPerMinutePerProjectPerModel' }] },
      { '@type': `${RPC}.RetryInfo`, retryDelay: '34s' },
    ],
  ],
  quota: [
    429,
    'RESOURCE_EXHAUSTED',
    'You exceeded your current quota, please check your plan and billing details.',
    [
      {
        '@type': `${RPC}.QuotaFailure`,
        violations: [{ quotaId: 'GenerateRequestsPerDayPerProjectPerModel-FreeTier' }],
      },
    ],
  ],
  overloaded: [503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.'],
  server: [500, 'INTERNAL', 'An internal error has occurred.'],
  context: [
    400,
    'INVALID_ARGUMENT',
    'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
  ],
  invalid: [400, 'INVALID_ARGUMENT', 'Please ensure that multiturn requests alternate between user and model.'],
}
