/** What one client is told of entries: the line for everyone, but for its own prompts, questions and terminals. */
import type { Entry } from '../../../../session/domain/entries.ts'
import { withdrawn } from '../../../../session/domain/evolve.ts'
import type { Session } from '../../../../session/session.ts'
import type { PermissionRequests } from '../attachment/permission-requests.ts'
import type { DisplayCapabilities } from '../initialize/client-capabilities.ts'
import type { ClientPeerServices } from '../client-peer/client-peer.ts'
import type { PendingPrompts } from '../attachment/pending-prompts.ts'
import { callUpdate, replayed } from './entry-to-update.ts'
import { showsTerminals } from './terminal-content.ts'
import { entryMessage, openUpdateCache, updateMessage } from './update-cache.ts'

/** What is the client's own in a session. */
export interface Own {
  readonly session: Session
  readonly display: DisplayCapabilities
  readonly prompts: PendingPrompts
  readonly asking: PermissionRequests
  readonly lent: ClientPeerServices
}

export class UpdateRenderer {
  readonly #own: Own

  constructor(own: Own) {
    this.#own = own
  }

  /** Built once for everyone where nothing in it is for this client alone. */
  live(entries: readonly Entry[]): readonly string[] {
    const { session, display, prompts, asking } = this.#own
    const { messages, byEntry, isPersonal } = openUpdateCache(session.id, entries, display)
    const isForAll = !isPersonal || (prompts.isEmpty && !asking.isOpen)
    return isForAll ? messages : entries.flatMap((entry, at) => this.#live(entry, byEntry[at]))
  }

  /** The whole conversation; whoever was slow may hear of the end of its own prompt only here. */
  replayed(entries: readonly Entry[]): readonly string[] {
    return replayed(entries).flatMap((entry) => this.#replayed(entry))
  }

  #live(entry: Entry, shared: string | undefined): readonly string[] {
    const { prompts, asking } = this.#own
    switch (entry.kind) {
      case 'prompt_withdrawn':
        return prompts.answers(withdrawn(entry))
      case 'turn_ended':
        // Its sender hears of the end in the response, everyone else in the transcript.
        return prompts.has(entry.promptId) ? prompts.answers(entry) : this.#message(entry, shared)
      case 'permission_resolved':
        return asking.withdraw(entry.requestId)
      default:
        return this.#isOwnEcho(entry) ? [] : this.#message(entry, shared)
    }
  }

  #replayed(entry: Entry): readonly string[] {
    const { prompts } = this.#own
    const update = this.#message(entry)
    if (entry.kind === 'turn_ended') return [...update, ...prompts.answers(entry)]
    return entry.kind === 'prompt_withdrawn' ? [...update, ...prompts.answers(withdrawn(entry))] : update
  }

  /** `shared` is its message for everyone, where that was made already. */
  #message(entry: Entry, shared?: string): readonly string[] {
    const { session, display, lent } = this.#own
    const isOwn = (terminalId: string) => lent.hasTerminal(terminalId)
    if (showsTerminals(entry, isOwn)) return [updateMessage(session.id, callUpdate(entry, isOwn), entry.seq)]
    const message = shared ?? entryMessage(session.id, entry, display)
    return message === undefined ? [] : [message]
  }

  #isOwnEcho(entry: Entry): boolean {
    return entry.kind === 'message_chunk' && entry.role === 'user' && this.#own.prompts.has(entry.promptId)
  }
}
