/** Updates as messages, serialised once however many clients get them. */
import type { Entry } from '../../../../session/domain/entries.ts'
import type { DisplayCapabilities } from '../initialize/client-capabilities.ts'
import { type Update, updateOf } from './entry-to-update.ts'
import { hasTerminals } from './terminal-content.ts'

export interface UpdateCache {
  /** What everyone is told who neither sent a prompt that it speaks of, nor was asked a question that it settles, nor has its terminals. */
  readonly messages: readonly string[]
  /** The message of each entry; undefined for an entry without one. */
  readonly byEntry: readonly (string | undefined)[]
  /** Whether it speaks of prompts or terminals or settles questions at all. */
  readonly isPersonal: boolean
}

/** The message of one update; `seq` is the cursor of whoever has it. */
export function updateMessage(sessionId: string, update: Update, seq: number): string {
  return messageOf(JSON.stringify(sessionId), update, seq)
}

/** The message of an entry; undefined for facts that ACP v1, or a client with these capabilities, has no update for. */
export function entryMessage(sessionId: string, entry: Entry, display: DisplayCapabilities): string | undefined {
  const update = updateOf(entry, display)
  return update === undefined ? undefined : updateMessage(sessionId, update, entry.seq)
}

const batches = new WeakMap<DisplayCapabilities, WeakMap<readonly Entry[], UpdateCache>>()

/** The same for everyone who is told this very batch in this display. */
export function openUpdateCache(
  sessionId: string,
  entries: readonly Entry[],
  display: DisplayCapabilities,
): UpdateCache {
  const known = batchesIn(display).get(entries)
  if (known !== undefined) return known
  const byEntry = entries.map((entry) => entryMessage(sessionId, entry, display))
  const messages = byEntry.filter((message) => message !== undefined)
  const shared = { messages, byEntry, isPersonal: entries.some(isPersonal) }
  batchesIn(display).set(entries, shared)
  return shared
}

function batchesIn(display: DisplayCapabilities): WeakMap<readonly Entry[], UpdateCache> {
  const known = batches.get(display) ?? new WeakMap<readonly Entry[], UpdateCache>()
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

function messageOf(session: string, update: Update, seq: number): string {
  return `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":${session},"update":${JSON.stringify(update)},"_meta":{"parley/seq":${seq}}}}`
}
