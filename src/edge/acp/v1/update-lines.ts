/** Updates as lines of the wire, serialised once however many clients are told. */
import type { Entry } from '../../../session/entries.ts'
import type { Dialect } from './dialect.ts'
import { type Update, dependsOnDialect, updateOf } from './project.ts'
import { hasTerminals } from './terminal-content.ts'

export interface SharedLines {
  /** What everyone is told who neither sent a prompt that it speaks of, nor was asked a question that it settles, nor has its terminals. */
  readonly text: string
  /** Whether it speaks of prompts or terminals or settles questions at all. */
  readonly isPersonal: boolean
}

/** The line of one update; `seq` is the cursor of whoever has it. */
export function updateLine(sessionId: string, update: Update, seq: number): string {
  return lineOf(sessionId, JSON.stringify(update), seq)
}

/** The line of an entry; empty for facts that ACP v1, or whoever speaks this dialect, has no word for. */
export function entryLine(sessionId: string, entry: Entry, dialect: Dialect): string {
  const json = dependsOnDialect(entry) ? jsonOf(entry, dialect) : updateJson(entry, dialect)
  return json === null ? '' : lineOf(sessionId, json, entry.seq)
}

const batches = new WeakMap<Dialect, WeakMap<readonly Entry[], SharedLines>>()

/** The same for everyone who is told this very batch in this dialect. */
export function sharedLines(sessionId: string, entries: readonly Entry[], dialect: Dialect): SharedLines {
  const known = batchesIn(dialect).get(entries)
  if (known !== undefined) return known
  let text = ''
  for (const entry of entries) text += entryLine(sessionId, entry, dialect)
  const shared = { text, isPersonal: entries.some(isPersonal) }
  batchesIn(dialect).set(entries, shared)
  return shared
}

function batchesIn(dialect: Dialect): WeakMap<readonly Entry[], SharedLines> {
  const known = batches.get(dialect) ?? new WeakMap<readonly Entry[], SharedLines>()
  batches.set(dialect, known)
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

const updates = new WeakMap<Entry, string | null>()

function updateJson(entry: Entry, dialect: Dialect): string | null {
  const known = updates.get(entry)
  if (known !== undefined) return known
  const json = jsonOf(entry, dialect)
  updates.set(entry, json)
  return json
}

function jsonOf(entry: Entry, dialect: Dialect): string | null {
  const update = updateOf(entry, dialect)
  return update === undefined ? null : JSON.stringify(update)
}

function lineOf(sessionId: string, update: string, seq: number): string {
  const session = JSON.stringify(sessionId)
  return `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":${session},"update":${update},"_meta":{"parley/seq":${seq}}}}\n`
}
