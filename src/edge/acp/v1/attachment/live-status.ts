/**
 * The notifications `_parley/turn`, `queue`, `presence`, `mcp` and `agent` for clients that asked for them: always the
 * present state, never a log.
 */
import { notificationMessage } from '../../../../rpc/json-rpc.ts'
import type { AgentActivity } from '../../../../ports/agent.ts'
import type { ServerStatus } from '../../../../ports/tools.ts'
import type { Entry } from '../../../../session/domain/entries.ts'
import type { QueuedPrompt } from '../../../../session/domain/state.ts'
import type { PresentClient, SessionView } from '../../../../session/handle.ts'
import type { SessionNotification } from '../initialize/client-capabilities.ts'
import type { PendingPrompts } from './pending-answers.ts'

/** Characters of a queued prompt that other clients are shown. */
const QUEUED_TEXT_CHARS = 200

/** For one client in one session. A notification is sent again only when its content has changed. */
export class LiveStatus {
  readonly #sessionId: string
  readonly #wanted: ReadonlySet<SessionNotification>
  readonly #sent = new Map<SessionNotification, string>()
  /** Notifications whose content may have changed since they were sent. */
  readonly #stale = new Set<SessionNotification>(['turn', 'queue', 'presence', 'mcp', 'agent'])
  #clients: readonly PresentClient[] = []
  #servers: readonly ServerStatus[] = []
  #activity: AgentActivity | undefined
  /** The turn of the last notification. */
  #turn: SessionView['turn'] = null
  /** The parts of the last view that `turn` and `queue` are made of. */
  #seen: readonly unknown[] = []

  constructor(sessionId: string, wanted: ReadonlySet<SessionNotification>) {
    this.#sessionId = sessionId
    this.#wanted = wanted
  }

  changed(name: SessionNotification): void {
    this.#stale.add(name)
  }

  presence(clients: readonly PresentClient[]): void {
    this.#clients = clients
    this.#stale.add('presence')
  }

  mcp(servers: readonly ServerStatus[]): void {
    this.#servers = servers
    this.#stale.add('mcp')
  }

  agent(activity: AgentActivity | undefined): void {
    this.#activity = activity
    this.#stale.add('agent')
  }

  /**
   * A turn whose cancel and end were stored together is shown as being cancelled all the same, before its end: who watches it
   * learns from that why it ended.
   */
  cancelled(entries: readonly Entry[]): readonly string[] {
    if (entries.length < 2 || this.#turn === null || !this.#wanted.has('turn')) return []
    const [from, to] = [entries.findIndex(isCancel), entries.findIndex(isEnd)]
    return from === -1 || to < from ? [] : this.#message('turn', { phase: 'cancelling', ...this.#turn })
  }

  /** The messages that bring the client up to date. `view` is undefined once the session is deleted; `mine` are its own prompts. */
  messages(view: SessionView | undefined, mine: PendingPrompts): readonly string[] {
    this.#compare(view)
    const names = [...this.#stale].filter((name) => this.#wanted.has(name))
    this.#stale.clear()
    return names.flatMap((name) => this.#message(name, this.#contentOf(name, view, mine)))
  }

  /** Most entries are text and change neither the turn nor the queue. */
  #compare(view: SessionView | undefined): void {
    const seen = [view?.phase, view?.turn?.turnId, view?.queue]
    if (seen.every((part, index) => part === this.#seen[index])) return
    this.#seen = seen
    this.#stale.add('turn').add('queue')
  }

  #message(name: SessionNotification, content: object): readonly string[] {
    const message = notificationMessage(`_parley/${name}`, { sessionId: this.#sessionId, ...content })
    if (this.#sent.get(name) === message) return []
    this.#sent.set(name, message)
    return [message]
  }

  #contentOf(name: SessionNotification, view: SessionView | undefined, mine: PendingPrompts): object {
    switch (name) {
      case 'turn':
        this.#turn = view?.turn ?? null
        return turnContent(view)
      case 'queue':
        return { prompts: (view?.queue ?? []).map((prompt) => queuedContent(prompt, mine)) }
      case 'presence':
        return { clients: this.#clients.map(clientContent) }
      case 'mcp':
        return { servers: this.#servers.map(serverContent) }
      case 'agent':
        return activityContent(this.#activity)
      case 'resolved':
        // Each is sent once, at its place.
        return {}
    }
  }
}

function isCancel({ kind }: Entry): boolean {
  return kind === 'turn_cancel_requested'
}

function isEnd({ kind }: Entry): boolean {
  return kind === 'turn_ended'
}

function turnContent(view: SessionView | undefined): object {
  return view === undefined ? { phase: 'deleted' } : { phase: view.phase, ...view.turn }
}

function queuedContent({ promptId, content }: QueuedPrompt, mine: PendingPrompts): object {
  const text = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join(' ')
  // Cut between characters: half a surrogate pair is no text.
  const start = Array.from(text.slice(0, 2 * QUEUED_TEXT_CHARS)).slice(0, QUEUED_TEXT_CHARS)
  return { promptId, mine: mine.has(promptId), text: start.join('') }
}

function clientContent({ name, title, version, isYou }: PresentClient): object {
  const named = { name, ...(title === undefined ? {} : { title }), ...(version === undefined ? {} : { version }) }
  return { ...named, you: isYou }
}

function serverContent({ name, title, state, reason, tools }: ServerStatus): object {
  return { name, title, state, reason, tools }
}

/** `ready`: nothing needs an explanation. */
function activityContent(activity: AgentActivity | undefined): object {
  return activity === undefined ? { state: 'ready' } : { ...activity, since: new Date(activity.since).toISOString() }
}
