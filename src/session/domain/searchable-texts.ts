/** The texts of a session that full-text search finds: messages of users and agents, output of tools, and titles. Pure. */
import type { Content, ToolCallContent, ToolCallPatch } from '../../ports/values/content.ts'
import type { SearchDocument } from '../../ports/search.ts'
import type { Entry } from './entries.ts'

export interface SearchDocuments {
  readonly documents: readonly SearchDocument[]
  /** The turn that the last of the entries belongs to, if it belongs to one. */
  readonly turn: string | null
}

/** `turn` is the one that the entries before these have begun and not ended. */
export function searchDocumentsOf(entries: readonly Entry[], turn: string | null): SearchDocuments {
  const documents: SearchDocument[] = []
  let current = turn
  for (const entry of entries) {
    if (entry.kind === 'turn_started') current = entry.turnId
    const document = documentOf(entry, current)
    if (document !== undefined) documents.push(document)
    if (entry.kind === 'turn_ended') current = null
  }
  return { documents, turn: current }
}

function documentOf(entry: Entry, turn: string | null): SearchDocument | undefined {
  const place = { seq: entry.seq, at: entry.at, turn }
  switch (entry.kind) {
    case 'message_chunk': {
      const name = `${turn ?? ''}/${entry.role}/${entry.messageId}`
      return { ...place, name, by: entry.role, text: spokenText(entry.content), continues: true }
    }
    case 'tool_call':
      return { ...place, ...callSaid(entry.toolCallId, entry.call, turn) }
    case 'tool_call_patched':
      return { ...place, ...callSaid(entry.toolCallId, entry.patch, turn) }
    case 'title':
      return { ...place, turn: null, name: 'title', by: 'title', text: entry.title, continues: false }
    default:
      return undefined
  }
}

/** Ids of calls are the agent's, and may come again in another turn. */
function callSaid(toolCallId: string, { title, content }: ToolCallPatch, turn: string | null) {
  return {
    name: `${turn ?? ''}/call/${toolCallId}`,
    by: 'tool' as const,
    ...(title === undefined ? {} : { title }),
    ...(content === undefined ? {} : { text: content.map(reportedText).join(APART) }),
    continues: false,
  }
}

/** No phrase goes over the end of a paragraph. */
const APART = '\n\n'

function reportedText(content: ToolCallContent): string {
  switch (content.type) {
    case 'content':
      return contentText(content.content)
    case 'diff':
      return [content.path, content.oldText ?? '', content.newText].join(APART)
    case 'terminal':
      return content.output ?? ''
  }
}

/** Text comes in chunks that may end within a word; other content is separated from it. */
function spokenText(content: Content): string {
  return content.type === 'text' ? content.text : `${APART}${contentText(content)}${APART}`
}

function contentText(content: Content): string {
  switch (content.type) {
    case 'text':
      return content.text
    case 'resource_link':
      return [content.title ?? content.name, content.description ?? '', content.uri].join(APART)
    case 'resource':
      return [content.resource.uri, 'text' in content.resource ? content.resource.text : ''].join(APART)
    case 'image':
    case 'audio':
      return ''
  }
}
