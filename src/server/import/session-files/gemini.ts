/** Gemini CLI: a file for each session. It names its directory only by a hash, or by the folder that the file lies in. */
import {
  FileSessionBuilder,
  type FileSession,
  type SessionFile,
  listOf,
  objectIn,
  recordsOf,
  textOrEmpty,
} from './file-session.ts'
import { type Fields, fieldsOf } from '../../../rpc/json-rpc.ts'

/** `directoryOf` finds the directory of this hash, if it can. Throws IMPORT_INVALID. */
export function readGemini(file: SessionFile, directoryOf: (hash: string) => string | undefined): FileSession {
  const conversation = new FileSessionBuilder(file.path)
  const { sessionId, projectHash, startTime, lastUpdated, messages, summary } = file.path.endsWith('.jsonl')
    ? afterAllLines(file)
    : objectIn(file)
  conversation.seen(startTime)
  conversation.seen(lastUpdated)
  for (const message of listOf(messages)) take(message, conversation)
  return conversation.session({ id: sessionId, cwd: directoryOf(textOrEmpty(projectHash)), title: summary })
}

/** A line for each change, as versions since 0.40 write them: fields of the session, a message in place of the one with its id, or a rewind. */
function afterAllLines(file: SessionFile): Fields {
  const session: Record<string, unknown> = {}
  const messages = new Map<string, Fields>()
  const put = (all: unknown) => listOf(all).forEach((message) => messages.set(textOrEmpty(message['id']), message))
  for (const record of recordsOf(file)) {
    const { $set: changed, $rewindTo: first, id } = record
    if (typeof first === 'string') rewind(messages, first)
    else if (typeof id === 'string') messages.set(id, record)
    else {
      const fields = changed === undefined ? record : fieldsOf(changed)
      if (changed !== undefined && Array.isArray(fields['messages'])) messages.clear()
      put(fields['messages'])
      Object.assign(session, fields)
    }
  }
  return { ...session, messages: [...messages.values()] }
}

/** Takes back this message and those after it; all of them, if it is not there. */
function rewind(messages: Map<string, Fields>, first: string): void {
  const ids = [...messages.keys()]
  for (const id of ids.slice(Math.max(0, ids.indexOf(first)))) messages.delete(id)
}

/** Messages that Gemini CLI sends to the model in the user's place. */
const CONTEXT = /^\s*<(?:session|hook)_context>/u

function take(message: Fields, conversation: FileSessionBuilder): void {
  const { type, content, timestamp } = message
  if (type === 'user') {
    const text = contentText(content)
    conversation.prompt(text === '' || CONTEXT.test(text) ? [] : [{ type: 'text', text }], timestamp)
  } else if (type === 'gemini') {
    conversation.seen(timestamp)
    for (const { subject, description } of listOf(message['thoughts']))
      conversation.say('thought', [subject, description].filter((part) => typeof part === 'string').join('\n'))
    for (const call of listOf(message['toolCalls'])) takeCall(call, conversation)
    conversation.say('agent', contentText(content))
    // The tool's own messages to its user are no part of the conversation.
  } else if (!['info', 'warning', 'error'].includes(textOrEmpty(type))) conversation.leaveOut(type)
}

function takeCall({ id, name, args, status, result }: Fields, conversation: FileSessionBuilder): void {
  conversation.call(textOrEmpty(id), textOrEmpty(name), args)
  const outputs = listOf(result).map((part) => fieldsOf(fieldsOf(part['functionResponse'])['response']))
  const text = outputs.map(({ output, error }) => textOrEmpty(output ?? error)).join('\n')
  conversation.ended(textOrEmpty(id), { text, isError: status !== 'success' })
}

/** A text, or parts of which some are texts. */
function contentText(content: unknown): string {
  if (typeof content === 'string') return content
  const parts = Array.isArray(content) ? content : [content]
  return parts.map((part) => (typeof part === 'string' ? part : textOrEmpty(fieldsOf(part)['text']))).join('')
}
