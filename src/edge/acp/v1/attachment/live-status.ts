/** What is not a fact of the conversation, for clients that asked for it: always the picture as it is now, never a log. */
import type { SubscribedClient } from '../../../../session/handle.ts'
import type { Subscription } from '../../../../session/subscribers/subscription.ts'
import type { Session } from '../../../../session/session.ts'
import { type Existing, type QueuedPrompt, isBusy } from '../../../../session/domain/state.ts'
import { notificationMessage } from '../../../../rpc/json-rpc.ts'
import type { NotificationName } from '../initialize/client-capabilities.ts'

/** Characters of a queued prompt that others are shown. */
const QUEUED_TEXT = 200

/** One client's view of one session. */
export interface LiveStatusView {
  readonly session: Session
  readonly feed: Subscription
  readonly isDeleted: boolean
  isMine(promptId: string): boolean
}

type Name = Exclude<NotificationName, 'server'>

/** Of one session for one client: each is told again only when it has changed. */
export class LiveStatus {
  readonly #wanted: ReadonlySet<NotificationName>
  readonly #told = new Map<Name, string>()
  /** What may no longer be as it was told. */
  readonly #stale = new Set<Name>(['turn', 'queue', 'presence', 'mcp'])
  #seen: readonly unknown[] = []

  constructor(wanted: ReadonlySet<NotificationName>) {
    this.#wanted = wanted
  }

  changed(name: Name): void {
    this.#stale.add(name)
  }

  /** The messages that bring the client up to date; none where it is. */
  messages(view: LiveStatusView): readonly string[] {
    if (this.#wanted.size === 0) return []
    this.#look(view)
    const names = [...this.#stale].filter((name) => this.#wanted.has(name))
    this.#stale.clear()
    return names.flatMap((name) => this.#message(name, view))
  }

  /** Most entries are words and change none of these. */
  #look({ session: { state }, isDeleted }: LiveStatusView): void {
    const seen = isBusy(state) ? [state.phase, isDeleted, state.turn.turnId, state.queue] : [state.phase, isDeleted]
    if (seen.length === this.#seen.length && seen.every((one, n) => one === this.#seen[n])) return
    this.#seen = seen
    this.#stale.add('turn').add('queue')
  }

  #message(name: Name, view: LiveStatusView): readonly string[] {
    const message = notificationMessage(`_parley/${name}`, { sessionId: view.session.id, ...PICTURES[name](view) })
    if (this.#told.get(name) === message) return []
    this.#told.set(name, message)
    return [message]
  }
}

const PICTURES: Readonly<Record<Name, (view: LiveStatusView) => object>> = { turn, queue, presence, mcp }

function turn({ session, isDeleted }: LiveStatusView): object {
  const state = session.requireCreated
  const { phase } = state
  if (isDeleted) return { phase: 'deleted' }
  return isBusy(state) ? { phase, turnId: state.turn.turnId, promptId: state.turn.promptId } : { phase }
}

function queue(view: LiveStatusView): object {
  const prompts = queueOf(view.session.requireCreated).map((prompt) => {
    const { promptId } = prompt
    return { promptId, mine: view.isMine(promptId), text: textOf(prompt) }
  })
  return { prompts }
}

function presence({ session, feed }: LiveStatusView): object {
  const clients = session.clients.presentTo(feed)
  return { clients: clients.map(({ isYou, ...client }) => Object.assign(shown(client), { you: isYou })) }
}

function mcp({ session, feed }: LiveStatusView): object {
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

function shown({ name, title, version }: SubscribedClient): object {
  return { name, ...(title === undefined ? {} : { title }), ...(version === undefined ? {} : { version }) }
}
