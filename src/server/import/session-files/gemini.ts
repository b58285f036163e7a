/** Gemini CLI: one JSON file a session. It names its directory only by a hash, or by the folder that the file lies in. */
import {
  Conversation,
  type Fields,
  type FileSession,
  type TextFile,
  fieldsOf,
  listOf,
  objectIn,
  textOf,
} from './conversation.ts'

/** `directoryOf` finds the directory of this hash, if it can. Throws IMPORT_INVALID. */
export function readGemini(file: TextFile, directoryOf: (hash: string) => string | undefined): FileSession {
  const conversation = new Conversation(file.path)
  const { sessionId, projectHash, startTime, lastUpdated, messages, summary } = objectIn(file)
  conversation.seen(startTime)
  conversation.seen(lastUpdated)
  for (const message of listOf(messages)) take(message, conversation)
  return conversation.session({ id: sessionId, cwd: directoryOf(textOf(projectHash)), title: summary })
}

function take(message: Fields, conversation: Conversation): void {
  const { type, content, timestamp } = message
  if (type === 'user') {
    const text = wordsOf(content)
    conversation.prompt(text === '' ? [] : [{ type: 'text', text }], timestamp)
  } else if (type === 'gemini') {
    conversation.seen(timestamp)
    for (const { subject, description } of listOf(message['thoughts']))
      conversation.say('thought', [subject, description].filter((part) => typeof part === 'string').join('\n'))
    for (const call of listOf(message['toolCalls'])) takeCall(call, conversation)
    conversation.say('agent', wordsOf(content))
    // The tool's own messages to its user are no part of the conversation.
  } else if (!['info', 'warning', 'error'].includes(textOf(type))) conversation.leaveOut(type)
}

function takeCall({ id, name, args, status, result }: Fields, conversation: Conversation): void {
  conversation.call(textOf(id), textOf(name), args)
  const outputs = listOf(result).map((part) => fieldsOf(fieldsOf(part['functionResponse'])['response']))
  const text = outputs.map(({ output, error }) => textOf(output ?? error)).join('\n')
  conversation.ended(textOf(id), { text, isError: status !== 'success' })
}

/** A text, or parts of which some are texts. */
function wordsOf(content: unknown): string {
  if (typeof content === 'string') return content
  const parts = Array.isArray(content) ? content : [content]
  return parts.map((part) => (typeof part === 'string' ? part : textOf(fieldsOf(part)['text']))).join('')
}
