/** The Responses API as OpenAI streams it: what Codex speaks. */
import { type Body, partsOf, sse, textOf, type Wire } from './format.ts'
import { openai } from './openai.ts'
import type { AskedMessage } from './script.ts'
import type { Event } from './turn.ts'

const ID = 'resp_scripted'

export const responses: Wire = {
  read(body) {
    return {
      model: String(body['model']),
      system: textOf(body['instructions']),
      messages: partsOf(body['input']).flatMap(messageOf),
      tools: partsOf(body['tools']).map((tool) => String(tool['name'] ?? tool['type'])),
    }
  },
  writer: () => {
    const answer = new Answer()
    return (event) => answer.bytesOf(event)
  },
  models: (names) => openai.models(names),
  failure: (failure, words) => openai.failure(failure, words),
  broken: ({ body }) => typed('response.failed', { response: { id: ID, ...(body as object) } }),
}

function messageOf(item: Body): readonly AskedMessage[] {
  const { type = 'message', role } = item
  const empty = { text: '', calls: [], results: [], pictures: [] }
  const id = String(item['call_id'])
  if (type === 'function_call_output')
    return [{ ...empty, role: 'tool', results: [{ id, text: textOf(item['output']) }] }]
  if (type === 'function_call') {
    const args = JSON.parse(String(item['arguments'])) as unknown
    return [{ ...empty, role: 'assistant', calls: [{ id, name: String(item['name']), args }] }]
  }
  if (type !== 'message' || role === 'system' || role === 'developer') return []
  return [{ ...empty, role: role === 'assistant' ? 'assistant' : 'user', text: textOf(item['content']) }]
}

/** An answer remembers its text: the whole of it comes once more when the message is done. */
class Answer {
  #text = ''
  #isOpen = false
  #index = 0

  bytesOf(event: Event): string {
    const begin = this.#index === 0 ? typed('response.created', { response: { id: ID } }) : ''
    this.#index += 1
    return begin + this.#said(event)
  }

  #said(event: Event): string {
    switch (event.kind) {
      case 'text':
        return this.#opened() + this.#delta(event.text)
      case 'reasoning':
        return typed('response.reasoning_summary_text.delta', { item_id: 'rs_1', summary_index: 0, delta: event.text })
      case 'call':
        return this.#closed() + done({ type: 'function_call', id: `fc_${event.id}`, ...callOf(event) })
      case 'raw':
        return event.raw
      case 'end':
        return this.#closed() + typed('response.completed', { response: { id: ID, usage: usageOf(event) } })
    }
  }

  #delta(delta: string): string {
    this.#text += delta
    return typed('response.output_text.delta', { item_id: 'msg_1', output_index: 0, content_index: 0, delta })
  }

  #opened(): string {
    if (this.#isOpen) return ''
    this.#isOpen = true
    return typed('response.output_item.added', { output_index: 0, item: itemOf('') })
  }

  #closed(): string {
    if (!this.#isOpen) return ''
    this.#isOpen = false
    return done(itemOf(this.#text))
  }
}

function itemOf(text: string): object {
  const content = text === '' ? [] : [{ type: 'output_text', text, annotations: [] }]
  return { type: 'message', id: 'msg_1', role: 'assistant', content }
}

function callOf({ id, name, json }: Extract<Event, { kind: 'call' }>): object {
  return { call_id: id, name, arguments: json }
}

function done(item: object): string {
  return typed('response.output_item.done', { output_index: 0, item })
}

function usageOf({ usage }: Extract<Event, { kind: 'end' }>): object {
  return {
    input_tokens: usage.input,
    input_tokens_details: { cached_tokens: usage.cacheRead ?? 0 },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: usage.input + usage.output,
  }
}

/** Its name stands in the event and in the data. */
function typed(type: string, data: object): string {
  return sse({ type, ...data }, type)
}
