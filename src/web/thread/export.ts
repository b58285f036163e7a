/** A whole conversation as a file of Markdown, made in the page of what the server has. */
import type { Client } from '../../client/client.ts'
import type { Item } from '../../client/transcript/items.ts'
import { clockTime, words } from '../i18n/language.ts'
import { Conversation, messageText } from './conversation.ts'
import { History } from './history.ts'

/** All pages, in a conversation of its own: what the reader looks at stays as it is. */
export async function exported(client: Client, sessionId: string, title: string): Promise<string> {
  const talk = new Conversation()
  const history = new History({
    page: (before, limit) => client.page(sessionId, { before, limit }),
    prepend: (pages) =>
      talk.prepend({
        updates: pages.flatMap(({ updates }) => updates),
        resolved: pages.flatMap(({ resolved }) => resolved),
      }),
  })
  await history.begin(Number.MAX_SAFE_INTEGER - 1, 1)
  if (history.trouble.value !== '') throw new Error(history.trouble.value)
  return [`# ${title}`, ...talk.items.flatMap(markdownOf)].join('\n\n').concat('\n')
}

/** Thoughts and what tools gave are left out, as in the exports of the command line. */
function markdownOf(item: Item): readonly string[] {
  if (item.kind === 'tool_call')
    return [`- ${item.call.title ?? item.call.toolCallId} (${item.call.status ?? 'pending'})`]
  if (item.kind !== 'message' || item.role === 'thought') return []
  if (item.role === 'agent') return [messageText(item)]
  const { prompt, promptBy } = words()
  const who = item.by === undefined ? prompt : promptBy(item.by)
  return [`## ${item.at === undefined ? who : `${who}, ${clockTime(item.at.first)}`}`, messageText(item)]
}

/** As a browser saves any file. */
export function save(text: string, name: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: 'text/markdown' }))
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  // The browser has begun to read it by the next task.
  setTimeout(() => URL.revokeObjectURL(address))
}
