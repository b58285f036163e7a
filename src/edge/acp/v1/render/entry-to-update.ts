/** What an ACP v1 client is told of an entry: one `session/update`, or nothing. */
import { reasonOf } from '../../../../errors/parley-error.ts'
import type { Notice, SlashCommand, ToolStatus, Usage } from '../../../../ports/content.ts'
import type { ConfigOption, Settings } from '../../../../ports/settings.ts'
import type { Entry, ForkPoint } from '../../../../session/domain/entries.ts'
import type { Existing } from '../../../../session/domain/state.ts'
import { type DisplayCapabilities, FULL_DISPLAY } from '../initialize/client-capabilities.ts'
import { type CallEntry, withTerminals } from './terminal-content.ts'

export type Update = { readonly sessionUpdate: string } & Readonly<Record<string, unknown>>

const INTERRUPTED =
  'Interrupted: the server stopped while it was working on this. What was said until then is kept; prompt again to go on.'

/** Undefined for facts that v1, or this client, has no word for. Never throws: what cannot be shown is told of in its place. */
export function updateOf(entry: Entry, display: DisplayCapabilities = FULL_DISPLAY): Update | undefined {
  return shown(entry, () => wordFor(entry, display))
}

/** A tool call, as whoever has `isOwn` terminals is told of it. Never throws either. */
export function callUpdate(entry: CallEntry, isOwn: (terminalId: string) => boolean): Update {
  return shown(entry, () => wordForCall(entry, isOwn))
}

/** An entry may come from a journal that was damaged or written by another version; those after it are told all the same. */
function shown<Shown extends Update | undefined>({ seq }: Entry, show: () => Shown): Shown | Update {
  try {
    return show()
  } catch (error) {
    const text = `Entry ${seq} of this session could not be shown (${reasonOf(error)}). It is stored as it is.`
    return spoken(text, `entry-${seq}`)
  }
}

function wordFor(entry: Entry, display: DisplayCapabilities): Update | undefined {
  switch (entry.kind) {
    case 'message_chunk':
      return chunkUpdate(entry)
    case 'tool_call':
    case 'tool_call_patched':
      return wordForCall(entry, () => false)
    case 'plan':
      return { sessionUpdate: 'plan', entries: entry.entries }
    case 'title':
      return titleUpdate(entry.title)
    case 'commands':
      return commandsUpdate(entry.commands)
    case 'forked_from':
      return forkedUpdate(entry.from)
    case 'mode':
      return { sessionUpdate: 'current_mode_update', currentModeId: entry.modeId }
    case 'config_options':
      return { sessionUpdate: 'config_option_update', configOptions: shownOptions(entry.configOptions, display) }
    case 'usage':
      return usageUpdate(entry.usage)
    case 'compaction':
    case 'compaction_summary':
      return display.compaction ? compactionUpdate(entry) : undefined
    case 'notice':
      return spoken(entry.text, `notice-${entry.seq}`)
    case 'turn_ended':
      return endUpdate(entry)
    default:
      return undefined
  }
}

function wordForCall(entry: CallEntry, isOwn: (terminalId: string) => boolean): Update {
  const { toolCallId } = entry
  return entry.kind === 'tool_call'
    ? { sessionUpdate: 'tool_call', toolCallId, ...withKnownStatus(withTerminals(entry.call, isOwn)) }
    : { sessionUpdate: 'tool_call_update', toolCallId, ...withKnownStatus(withTerminals(entry.patch, isOwn)) }
}

/** v1 has no status for a cancelled call; its content says that it was cancelled. */
function withKnownStatus<Patch extends { readonly status?: ToolStatus }>(patch: Patch): Patch {
  return patch.status === 'cancelled' ? { ...patch, status: 'failed' } : patch
}

/**
 * What a replay tells of these entries, which follow each other: of what a session is besides its conversation only the latest,
 * where it stands, so that every update has a `seq` of its own; nothing of what the answer says as it is by then.
 */
export function replayed(entries: readonly Entry[]): readonly Entry[] {
  const latest = new Map(entries.map(({ kind, seq }) => [kind, seq]))
  return entries.filter(({ kind, seq }) => !IN_ANSWER.has(kind) && (!REPLACING.has(kind) || latest.get(kind) === seq))
}

const IN_ANSWER: ReadonlySet<Entry['kind']> = new Set(['modes', 'mode', 'config_options'])
const REPLACING: ReadonlySet<Entry['kind']> = new Set(['title', 'commands', 'usage'])

/** What a client needs to know besides the conversation and its answer: only the latest of each. */
export function stateUpdates({ title, commands, usage }: Existing): readonly Update[] {
  return [
    ...(title === null ? [] : [titleUpdate(title)]),
    ...(commands.length === 0 ? [] : [commandsUpdate(commands)]),
    ...(usage === null ? [] : [usageUpdate(usage)]),
  ]
}

/** What the answer to whoever opens a session says of it; nothing for an agent that cannot be set. */
export function settingsResult({ modes, configOptions }: Settings, display: DisplayCapabilities) {
  const shown = shownOptions(configOptions, display)
  return { ...(modes !== null && { modes }), ...(shown.length > 0 && { configOptions: shown }) }
}

/** All that this client can show, in the agent's order. */
export function shownOptions(
  options: readonly ConfigOption[],
  { booleans }: DisplayCapabilities,
): readonly ConfigOption[] {
  return booleans ? options : options.filter(({ type }) => type !== 'boolean')
}

export function noticeUpdate(notice: Notice): Update {
  return { sessionUpdate: 'notice', ...notice }
}

function usageUpdate(usage: Usage): Update {
  return { sessionUpdate: 'usage_update', ...usage }
}

function compactionUpdate(entry: Entry & { readonly kind: 'compaction' | 'compaction_summary' }): Update {
  const { compactionId } = entry
  return entry.kind === 'compaction'
    ? { sessionUpdate: 'compaction_update', compactionId, ...entry.patch }
    : { sessionUpdate: 'compaction_summary_chunk', compactionId, content: entry.content }
}

function chunkUpdate(entry: Entry & { readonly kind: 'message_chunk' }): Update {
  const { role, content, messageId } = entry
  const attached = role === 'user' && entry.meta !== undefined ? { _meta: entry.meta } : {}
  return { sessionUpdate: CHUNK_OF[role], content, messageId, ...attached }
}

const CHUNK_OF = { user: 'user_message_chunk', agent: 'agent_message_chunk', thought: 'agent_thought_chunk' } as const

function titleUpdate(title: string): Update {
  return { sessionUpdate: 'session_info_update', title }
}

/** v1 has no word for that either. */
function forkedUpdate({ session: sessionId, seq }: ForkPoint): Update {
  return { sessionUpdate: 'session_info_update', _meta: { 'parley/forkedFrom': { sessionId, seq } } }
}

/** Somebody has closed, deleted or reopened the session; v1 has no word for that, so it stands in a slot of our own. */
export function phaseUpdate(phase: Existing['phase'] | 'deleted'): Update {
  return { sessionUpdate: 'session_info_update', _meta: { 'parley/phase': phase } }
}

function commandsUpdate(commands: readonly SlashCommand[]): Update {
  const availableCommands = commands.map(({ name, description, hint }) => ({
    name,
    description,
    ...(hint === undefined ? {} : { input: { hint } }),
  }))
  return { sessionUpdate: 'available_commands_update', availableCommands }
}

/** v1 has no update for an end that no response carries; the transcript says it in words. */
function endUpdate(entry: Entry & { readonly kind: 'turn_ended' }): Update | undefined {
  const messageId = `${entry.turnId}-end`
  switch (entry.stopReason) {
    case 'interrupted':
      return spoken(entry.error?.message ?? INTERRUPTED, messageId)
    case 'error':
      return spoken(`This turn failed: ${entry.error?.message ?? 'the reason is not known.'}`, messageId)
    default:
      return undefined
  }
}

function spoken(text: string, messageId: string): Update {
  return { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text }, messageId }
}
