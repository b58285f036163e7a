/** Claude Code: a file `SESSION.jsonl` in a folder for each project, one message or fact a line. */
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
export function readClaude(file: SessionFile): FileSession {
  const conversation = new FileSessionBuilder(file.path)
  let about: { id: unknown; cwd: unknown; title?: unknown } = { id: undefined, cwd: undefined }
  for (const record of recordsOf(file)) {
    const { type, sessionId, cwd, summary, customTitle, aiTitle } = record
    about = {
      id: sessionId ?? about.id,
      // A session may change its directory; it is opened again where it began.
      cwd: about.cwd ?? cwd,
      title: customTitle ?? about.title ?? aiTitle ?? summary,
    }
    // Meta records are words of the tool to the model; a side chain is the work of a subagent.
    if (record['isMeta'] === true || record['isSidechain'] === true) continue
    if (type === 'user') user(record, conversation)
    else if (type === 'assistant') assistant(record, conversation)
  }
  return conversation.session(about)
}

function user({ message, timestamp }: Fields, conversation: FileSessionBuilder): void {
  const { content } = fieldsOf(message)
  if (typeof content === 'string') {
    conversation.prompt(typed(content), timestamp)
    return
  }
  const prompt: Content[] = []
  for (const block of listOf(content)) {
    if (block['type'] === 'tool_result') {
      const end = { text: resultOf(block['content']), isError: block['is_error'] === true }
      conversation.ended(textOrEmpty(block['tool_use_id']), end)
    } else if (block['type'] === 'text') prompt.push(...typed(textOrEmpty(block['text'])))
    else if (block['type'] === 'image') {
      const { media_type: mimeType, data } = fieldsOf(block['source'])
      prompt.push(...imageOf(`data:${textOrEmpty(mimeType)};base64,${textOrEmpty(data)}`))
    } else conversation.leaveOut(block['type'])
  }
  conversation.prompt(prompt, timestamp)
}

/** Messages that Claude Code writes in the user's place: the output of a command, and a stopped turn. */
const WRITTEN_BY_CLAUDE = /^(?:<local-command-|\[Request interrupted by user)/u

/** Of messages that no model has said, such as failures of the network. */
const NO_MODEL = '<synthetic>'

/** A command stands between tags, and so does what it printed. */
function typed(text: string): readonly Content[] {
  const command = /<command-name>(.*?)<\/command-name>/su.exec(text)?.[1]
  if (command !== undefined) {
    const [, given = ''] = /<command-args>(.*?)<\/command-args>/su.exec(text) ?? []
    return [{ type: 'text', text: `${command} ${given}`.trim() }]
  }
  return text === '' || WRITTEN_BY_CLAUDE.test(text) ? [] : [{ type: 'text', text }]
}

function assistant({ message, timestamp }: Fields, conversation: FileSessionBuilder): void {
  conversation.seen(timestamp)
  const { content, model } = fieldsOf(message)
  if (model === NO_MODEL) return
  if (typeof content === 'string') conversation.say('agent', content)
  for (const { type, text, thinking, id, name, input } of listOf(content)) {
    if (type === 'text') conversation.say('agent', text)
    else if (type === 'thinking') conversation.say('thought', thinking)
    else if (type === 'tool_use') conversation.call(textOrEmpty(id), textOrEmpty(name), input)
    // Encrypted, for the provider alone.
    else if (type !== 'redacted_thinking') conversation.leaveOut(type)
  }
}

function resultOf(content: unknown): string {
  if (!Array.isArray(content)) return textOrEmpty(content)
  return listOf(content)
    .map(({ type, text }) => (type === 'text' ? textOrEmpty(text) : `[${textOrEmpty(type)}]`))
    .join('\n')
}
