/** OpenCode: a file for the session, one for each of its messages, and one for each part of these. */
import type { Content } from '../../../ports/values/content.ts'
import {
  FileSessionBuilder,
  type FileSession,
  type SessionFile,
  imageOf,
  objectIn,
  textOrEmpty,
} from './file-session.ts'
import { type Fields, fieldsOf } from '../../../rpc/json-rpc.ts'

export interface MessageFiles {
  readonly message: SessionFile
  readonly parts: readonly SessionFile[]
}

/** Says nothing, or only for OpenCode itself. */
const BOOKKEEPING = new Set(['step-start', 'step-finish', 'snapshot', 'patch', 'agent', 'retry', 'compaction'])

/** The messages and parts in the order of their names. Throws IMPORT_INVALID. */
export function readOpencode(file: SessionFile, messages: readonly MessageFiles[]): FileSession {
  const conversation = new FileSessionBuilder(file.path)
  const { id, directory, title, time } = objectIn(file)
  conversation.seen(fieldsOf(time)['updated'])
  for (const { message, parts } of messages) {
    const { role, time: of } = objectIn(message)
    const read = parts.map((part) => objectIn(part))
    if (role === 'user')
      conversation.prompt(
        read.flatMap((part) => promptOf(part, conversation)),
        fieldsOf(of)['created'],
      )
    else for (const part of read) take(part, conversation)
  }
  return conversation.session({ id, cwd: directory, title })
}

function promptOf(
  { type, text, url, filename, synthetic }: Fields,
  conversation: FileSessionBuilder,
): readonly Content[] {
  // Synthetic text is what OpenCode adds for the model, such as the content of a named file.
  if (type === 'text') return synthetic === true ? [] : [{ type: 'text', text: textOrEmpty(text) }]
  if (type === 'file') {
    const pictures = imageOf(url)
    if (pictures.length > 0) return pictures
    return [{ type: 'resource_link', uri: textOrEmpty(url), name: textOrEmpty(filename ?? url) }]
  }
  if (!BOOKKEEPING.has(textOrEmpty(type))) conversation.leaveOut(type)
  return []
}

function take(part: Fields, conversation: FileSessionBuilder): void {
  const { type, text, callID, tool, state } = part
  if (type === 'text') conversation.say('agent', text)
  else if (type === 'reasoning') conversation.say('thought', text)
  else if (type === 'tool') {
    const { status, input, output, error } = fieldsOf(state)
    conversation.call(textOrEmpty(callID), textOrEmpty(tool), input)
    conversation.ended(textOrEmpty(callID), { text: textOrEmpty(output ?? error), isError: status !== 'completed' })
  } else if (!BOOKKEEPING.has(textOrEmpty(type))) conversation.leaveOut(type)
}
