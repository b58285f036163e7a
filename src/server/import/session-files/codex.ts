/** Codex: `rollout-*.jsonl` in folders by day, one item or event a line. */
import type { Content } from '../../../ports/values/content.ts'
import {
  FileSessionBuilder,
  type FileSession,
  type SessionFile,
  imageOf,
  listOf,
  recordsOf,
  textOrEmpty,
} from './file-session.ts'
import { type Fields, fieldsOf } from '../../../rpc/json-rpc.ts'

/** Throws IMPORT_INVALID. */
export function readCodex(file: SessionFile): FileSession {
  const conversation = new FileSessionBuilder(file.path)
  const records = [...recordsOf(file)]
  const head = records.map(({ type, payload }) => (type === 'session_meta' ? fieldsOf(payload) : undefined))
  // What the user typed is an event; older files have it only among what was sent to the model, with the tool's own words.
  const hasEvents = records.some(({ type, payload }) => type === 'event_msg' && isUserEvent(fieldsOf(payload)))
  for (const { type, payload, timestamp } of records) {
    conversation.seen(timestamp)
    const item = fieldsOf(payload)
    if (type === 'event_msg' && isUserEvent(item)) conversation.prompt(eventPrompt(item), timestamp)
    if (type === 'response_item') responseItem(item, { conversation, hasEvents, timestamp })
  }
  // A forked session repeats the head of the one that it comes from; its own is the first.
  const { id, cwd } = head.find((one) => one !== undefined) ?? {}
  return conversation.session({ id, cwd })
}

function isUserEvent({ type }: Fields): boolean {
  return type === 'user_message'
}

function eventPrompt({ message, images }: Fields): readonly Content[] {
  const text = textOrEmpty(message)
  const pictures = Array.isArray(images) ? images.flatMap(imageOf) : []
  return [...(text === '' ? [] : [{ type: 'text', text } as const]), ...pictures]
}

interface LineContext {
  readonly conversation: FileSessionBuilder
  readonly hasEvents: boolean
  readonly timestamp: unknown
}

function responseItem(item: Fields, place: LineContext): void {
  const { conversation } = place
  const callId = textOrEmpty(item['call_id'] ?? item['id'])
  switch (item['type']) {
    case 'message':
      message(item, place)
      break
    case 'reasoning':
      for (const { text } of listOf(item['summary'])) conversation.say('thought', text)
      break
    case 'function_call':
      conversation.call(callId, textOrEmpty(item['name']), parseJsonOrText(item['arguments']))
      break
    case 'custom_tool_call':
      conversation.call(callId, textOrEmpty(item['name']), item['input'])
      break
    case 'local_shell_call':
      conversation.call(callId, 'shell', item['action'])
      break
    case 'web_search_call':
      conversation.call(callId, 'web_search', item['action'])
      break
    case 'function_call_output':
    case 'custom_tool_call_output':
      conversation.ended(callId, outputOf(item['output']))
      break
    default:
      conversation.leaveOut(item['type'])
  }
}

function message({ role, content }: Fields, { conversation, hasEvents, timestamp }: LineContext): void {
  if (role === 'assistant') for (const { text } of listOf(content)) conversation.say('agent', text)
  if (role !== 'user' || hasEvents) return
  const blocks = listOf(content).filter(({ text }) => !isOfTheTool(textOrEmpty(text)))
  const prompt = blocks.flatMap(({ type, text, image_url: url }): readonly Content[] =>
    type === 'input_image' ? imageOf(url) : [{ type: 'text', text: textOrEmpty(text) }],
  )
  conversation.prompt(prompt, timestamp)
}

/** Codex sends its surroundings to the model as if the user had said them. */
function isOfTheTool(text: string): boolean {
  return /^\s*(?:<(?:environment_context|user_instructions|turn_aborted|user_shell_command)>|# AGENTS\.md instructions)/u.test(
    text,
  )
}

function outputOf(output: unknown): { readonly text: string; readonly isError: boolean } {
  const value = parseJsonOrText(output)
  const { output: text, content, success, metadata } = fieldsOf(value)
  const code = fieldsOf(metadata)['exit_code']
  const isError = success === false || (typeof code === 'number' && code !== 0)
  if (Array.isArray(value))
    return {
      text: listOf(value)
        .map((one) => textOrEmpty(one['text']))
        .join('\n'),
      isError,
    }
  return { text: textOrEmpty(text ?? content ?? output), isError }
}

/** The JSON in a text, or the text. */
function parseJsonOrText(text: unknown): unknown {
  if (typeof text !== 'string') return text
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}
