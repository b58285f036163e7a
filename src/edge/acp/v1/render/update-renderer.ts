/** Renders entries for one client: shared with all clients, except for its own prompts, permission requests and terminals. */
import type { Entry } from '../../../../session/domain/entries.ts'
import { withdrawn } from '../../../../session/domain/evolve.ts'
import type { PendingPrompts } from '../attachment/pending-prompts.ts'
import type { OpenPermissionRequests } from '../attachment/permission-request.ts'
import type { ClientPeerRequests } from '../client-peer/client-peer.ts'
import type { DisplayCapabilities } from '../initialize/client-capabilities.ts'
import { type Update, callUpdate, hasTerminals, replayed, showsTerminals, updateOf } from './entry-to-update.ts'

/** One client in one session. */
export interface RenderedFor {
  readonly sessionId: string
  readonly display: DisplayCapabilities
  readonly prompts: PendingPrompts
  readonly peer: ClientPeerRequests | undefined
}

export class UpdateRenderer {
  readonly #client: RenderedFor

  constructor(client: RenderedFor) {
    this.#client = client
  }

  /** New entries: the one array of all clients, unless something in them is different for this client. */
  live(entries: readonly Entry[], permissions: OpenPermissionRequests): readonly string[] {
    const { sessionId, display, prompts } = this.#client
    const { messages, byEntry, isPersonal } = sharedUpdates(sessionId, entries, display)
    if (!isPersonal || (prompts.isEmpty && permissions.isEmpty)) return messages
    return entries.flatMap((entry, index) => {
      if (entry.kind === 'permission_resolved') return permissions.withdraw(entry.requestId)
      return this.#live(entry, byEntry[index])
    })
  }

  /** Entries of a replay. A client that was slow may get the response to its own prompt only here. */
  replayed(entries: readonly Entry[]): readonly string[] {
    return replayed(entries).flatMap((entry) => this.#message(entry).concat(this.#responses(entry)))
  }

  #live(entry: Entry, shared: string | undefined): readonly string[] {
    const { prompts } = this.#client
    // The client that sent the prompt reads the end in the response, all others as a message.
    const isOwnEnd = entry.kind === 'turn_ended' && prompts.has(entry.promptId)
    const isOwnEcho = entry.kind === 'message_chunk' && entry.role === 'user' && prompts.has(entry.promptId)
    if (isOwnEcho) return []
    return isOwnEnd ? this.#responses(entry) : this.#message(entry, shared).concat(this.#responses(entry))
  }

  /** The responses to this client's prompts that end with this entry. */
  #responses(entry: Entry): readonly string[] {
    if (entry.kind === 'turn_ended') return this.#client.prompts.answers(entry)
    return entry.kind === 'prompt_withdrawn' ? this.#client.prompts.answers(withdrawn(entry)) : []
  }

  /** `shared` is its message for all clients, where that was made already. */
  #message(entry: Entry, shared?: string): readonly string[] {
    const { sessionId, display, peer } = this.#client
    const isOwn = (terminalId: string) => peer?.hasTerminal(terminalId) === true
    if (showsTerminals(entry, isOwn)) return [updateMessage(sessionId, callUpdate(entry, isOwn), entry.seq)]
    const message = shared ?? entryMessage(sessionId, entry, display)
    return message === undefined ? [] : [message]
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
