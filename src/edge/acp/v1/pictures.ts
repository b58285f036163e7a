/** What is not a fact of the conversation, for clients that asked for it: always the picture as it is now, never a log. */
import type { Client } from '../../../session/audience.ts'
import type { Feed } from '../../../session/feed.ts'
import type { Session } from '../../../session/session.ts'
import { type Existing, type QueuedPrompt, isBusy } from '../../../session/state.ts'
import { notificationLine } from '../protocol.ts'
import type { NoticeName } from './notices.ts'

/** Characters of a queued prompt that others are shown. */
const QUEUED_TEXT = 200

/** One client's view of one session. */
export interface View {
  readonly session: Session
  readonly feed: Feed
  readonly isDeleted: boolean
  isMine(promptId: string): boolean
}

/** Of one session for one client: each is told again only when it has changed. */
export class Pictures {
  readonly #wanted: readonly (readonly [name: string, picture: (view: View) => object])[]
  readonly #told = new Map<string, string>()

  constructor(wanted: ReadonlySet<NoticeName>) {
    const all = Object.entries({ turn, queue, presence, mcp })
    this.#wanted = all.filter(([name]) => (wanted as ReadonlySet<string>).has(name))
  }

  /** The lines that bring the client up to date; none where it is. */
  lines(view: View): string {
    return this.#wanted.map(([name, picture]) => this.#line(name, picture(view), view.session.id)).join('')
  }

  #line(name: string, picture: object, sessionId: string): string {
    const line = notificationLine(`_parley/${name}`, { sessionId, ...picture })
    if (this.#told.get(name) === line) return ''
    this.#told.set(name, line)
    return line
  }
}

function turn({ session, isDeleted }: View): object {
  const state = session.existing
  const { phase } = state
  if (isDeleted) return { phase: 'deleted' }
  return isBusy(state) ? { phase, turnId: state.turn.turnId, promptId: state.turn.promptId } : { phase }
}

function queue(view: View): object {
  const prompts = queueOf(view.session.existing).map((prompt) => {
    const { promptId } = prompt
    return { promptId, mine: view.isMine(promptId), text: textOf(prompt) }
  })
  return { prompts }
}

function presence({ session, feed }: View): object {
  return { clients: session.clients.map(([reader, client]) => ({ ...shown(client), you: reader === feed })) }
}

function mcp({ session, feed }: View): object {
  return {
    servers: session
      .serversFor(feed)
      .map(({ name, title, state, reason, tools }) => ({ name, title, state, reason, tools })),
  }
}

function queueOf(state: Existing): readonly QueuedPrompt[] {
  return isBusy(state) ? state.queue : []
}

function textOf({ content }: QueuedPrompt): string {
  const text = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join(' ')
  return Array.from(text.slice(0, 2 * QUEUED_TEXT))
    .slice(0, QUEUED_TEXT)
    .join('')
}

function shown({ name, title, version }: Client): object {
  return { name, ...(title === undefined ? {} : { title }), ...(version === undefined ? {} : { version }) }
}
