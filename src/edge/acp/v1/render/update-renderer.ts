/** Renders entries for one client: shared with all clients, except for its own prompts, permission requests and terminals. */
import type { Entry } from '../../../../session/domain/entries.ts'
import { withdrawn } from '../../../../session/domain/evolve.ts'
import type { Session } from '../../../../session/session.ts'
import type { PermissionRequests } from '../attachment/permission-requests.ts'
import type { DisplayCapabilities } from '../initialize/client-capabilities.ts'
import type { ClientPeerServices } from '../client-peer/client-peer.ts'
import type { PendingPrompts } from '../attachment/pending-prompts.ts'
import { type Update, callUpdate, hasTerminals, replayed, showsTerminals, updateOf } from './entry-to-update.ts'

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
    const { messages, byEntry, isPersonal } = sharedUpdates(session.id, entries, display)
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

/** The messages of one batch for all clients with the same display. */
interface SharedUpdates {
  readonly messages: readonly string[]
  /** The message of each entry; undefined for an entry without one. */
  readonly byEntry: readonly (string | undefined)[]
  /** True when some clients get something else: prompts and terminals of their own, or permission requests that they were sent. */
  readonly isPersonal: boolean
}

/** One `session/update`; `seq` is the cursor of a client that has it. */
export function updateMessage(sessionId: string, update: Update, seq: number): string {
  const session = JSON.stringify(sessionId)
  return `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":${session},"update":${JSON.stringify(update)},"_meta":{"parley/seq":${seq}}}}`
}

/** Undefined for an entry that ACP v1, or a client with this display, has no update for. */
function entryMessage(sessionId: string, entry: Entry, display: DisplayCapabilities): string | undefined {
  const update = updateOf(entry, display)
  return update === undefined ? undefined : updateMessage(sessionId, update, entry.seq)
}

const batches = new WeakMap<DisplayCapabilities, WeakMap<readonly Entry[], SharedUpdates>>()

/** The same array for all clients with this display: a batch is serialised and encoded once. */
function sharedUpdates(sessionId: string, entries: readonly Entry[], display: DisplayCapabilities): SharedUpdates {
  const known = batchesIn(display).get(entries)
  if (known !== undefined) return known
  const byEntry = entries.map((entry) => entryMessage(sessionId, entry, display))
  const messages = byEntry.filter((message) => message !== undefined)
  const shared = { messages, byEntry, isPersonal: entries.some(isPersonal) }
  batchesIn(display).set(entries, shared)
  return shared
}

function batchesIn(display: DisplayCapabilities): WeakMap<readonly Entry[], SharedUpdates> {
  const known = batches.get(display) ?? new WeakMap<readonly Entry[], SharedUpdates>()
  batches.set(display, known)
  return known
}

function isPersonal(entry: Entry): boolean {
  switch (entry.kind) {
    case 'message_chunk':
      return entry.role === 'user'
    case 'turn_ended':
    case 'prompt_withdrawn':
    case 'permission_resolved':
      return true
    case 'tool_call':
    case 'tool_call_patched':
      return hasTerminals(entry)
    default:
      return false
  }
}
