/** Translates a `session/update` of ACP v1 into Parley's entries. Updates that Parley has no entry for are kept unchanged. Pure. */
import { fieldsOf, isFields, type Fields } from '../../../../rpc/json-rpc.ts'
import type {
  CompactionPatch,
  Content,
  PlanEntry,
  SlashCommand,
  ToolCallPatch,
  Usage,
} from '../../../../ports/values/content.ts'
import { callIn, contentIn, metaIn, textOf } from './content.ts'

/** Characters of an update that is kept as it is; a longer one is cut to its kind. */
const MAX_FOREIGN_CHARS = 256 * 1024

export type SaidUpdate =
  /** Words or a call: what happens in the conversation. */
  | {
      readonly kind: 'chunk'
      readonly role: 'user' | 'agent' | 'thought'
      readonly content: Content
      readonly messageId?: string
    }
  | { readonly kind: 'call'; readonly toolCallId: string; readonly patch: ToolCallPatch; readonly raw: Fields }
  | { readonly kind: 'plan'; readonly entries: readonly PlanEntry[] }
  | { readonly kind: 'compaction'; readonly compactionId: string; readonly patch: CompactionPatch }
  | { readonly kind: 'summary'; readonly compactionId: string; readonly content: Content }
  | { readonly kind: 'notice'; readonly severity: string; readonly title: string; readonly description?: string }
  /** How the session is. */
  | { readonly kind: 'title'; readonly title: string }
  | { readonly kind: 'usage'; readonly usage: Usage; readonly raw: Fields }
  | { readonly kind: 'commands'; readonly commands: readonly SlashCommand[]; readonly raw: readonly unknown[] }
  | { readonly kind: 'mode'; readonly modeId: string }
  | { readonly kind: 'options'; readonly configOptions: readonly unknown[] }
  /** It says nothing that Parley shows or keeps. */
  | { readonly kind: 'nothing' }
  | { readonly kind: 'foreign'; readonly update: unknown }

export function readUpdate(update: unknown): SaidUpdate {
  return (isFields(update) ? known(update) : undefined) ?? { kind: 'foreign', update: boundedForeign(update) }
}

function known(update: Fields): SaidUpdate | undefined {
  switch (update['sessionUpdate']) {
    case 'user_message_chunk':
      return chunk('user', update)
    case 'agent_message_chunk':
      return chunk('agent', update)
    case 'agent_thought_chunk':
      return chunk('thought', update)
    case 'tool_call':
    case 'tool_call_update':
      return call(update)
    case 'plan':
      return plan(update)
    case 'available_commands_update':
      return commands(update)
    case 'current_mode_update':
      return mode(update)
    case 'config_option_update':
      return options(update)
    case 'session_info_update':
      return title(update)
    case 'usage_update':
      return usage(update)
    case 'notice':
      return notice(update)
    case 'compaction_update':
      return compaction(update)
    case 'compaction_summary_chunk':
      return summary(update)
    default:
      return undefined
  }
}

function chunk(role: 'user' | 'agent' | 'thought', { content: block, messageId }: Fields): SaidUpdate | undefined {
  const content = contentIn(block)
  if (content === undefined) return undefined
  return { kind: 'chunk', role, content, ...(typeof messageId === 'string' && { messageId }) }
}

function call(update: Fields): SaidUpdate | undefined {
  const { toolCallId } = update
  if (typeof toolCallId !== 'string' || toolCallId === '') return undefined
  return { kind: 'call', toolCallId, patch: callIn(update), raw: update }
}

function plan({ entries }: Fields): SaidUpdate | undefined {
  if (!Array.isArray(entries)) return undefined
  return { kind: 'plan', entries: entries.flatMap((entry) => planEntry(fieldsOf(entry))) }
}

function planEntry({ content, priority, status }: Fields): readonly PlanEntry[] {
  if (typeof content !== 'string') return []
  const isPriority = priority === 'high' || priority === 'low'
  const isStatus = status === 'in_progress' || status === 'completed'
  return [{ content, priority: isPriority ? priority : 'medium', status: isStatus ? status : 'pending' }]
}

function commands({ availableCommands }: Fields): SaidUpdate | undefined {
  if (!Array.isArray(availableCommands)) return undefined
  return { kind: 'commands', commands: commandsIn(availableCommands), raw: availableCommands }
}

/** The commands that have a name. */
export function commandsIn(raw: readonly unknown[]): readonly SlashCommand[] {
  return raw.flatMap((one) => {
    const { name, description, input } = fieldsOf(one)
    if (typeof name !== 'string' || name === '') return []
    const hint = textOf(fieldsOf(input)['hint'])
    return [{ name, description: textOf(description) ?? '', ...(hint !== undefined && { hint }) }]
  })
}

function mode({ currentModeId }: Fields): SaidUpdate | undefined {
  return typeof currentModeId === 'string' ? { kind: 'mode', modeId: currentModeId } : undefined
}

function options({ configOptions }: Fields): SaidUpdate | undefined {
  return Array.isArray(configOptions) ? { kind: 'options', configOptions } : undefined
}

/** Partial: a title that is left out stays. */
function title({ title: name }: Fields): SaidUpdate {
  return typeof name === 'string' && name.trim() !== '' ? { kind: 'title', title: name } : { kind: 'nothing' }
}

function usage(update: Fields): SaidUpdate | undefined {
  const { used, size, cost } = update
  if (typeof used !== 'number' || typeof size !== 'number') return undefined
  const { amount, currency } = fieldsOf(cost)
  const priced = typeof amount === 'number' && typeof currency === 'string' ? { cost: { amount, currency } } : {}
  return { kind: 'usage', usage: { used, size, ...priced }, raw: update }
}

function notice({ severity, title: name, description }: Fields): SaidUpdate | undefined {
  if (typeof severity !== 'string' || typeof name !== 'string') return undefined
  return { kind: 'notice', severity, title: name, ...(typeof description === 'string' && { description }) }
}

function compaction(update: Fields): SaidUpdate | undefined {
  const { compactionId, status, error, summary: parts } = update
  const isStatus = status === 'in_progress' || status === 'completed' || status === 'failed' || status === 'cancelled'
  if (typeof compactionId !== 'string' || !isStatus) return undefined
  const words = Array.isArray(parts) ? parts.flatMap((one) => contentIn(one) ?? []) : undefined
  const patch: CompactionPatch = {
    status,
    ...(words !== undefined && { summary: words }),
    ...(typeof error === 'string' && { error }),
    ...metaIn(update),
  }
  return { kind: 'compaction', compactionId, patch }
}

function summary({ compactionId, content: block }: Fields): SaidUpdate | undefined {
  const content = contentIn(block)
  return typeof compactionId === 'string' && content !== undefined
    ? { kind: 'summary', compactionId, content }
    : undefined
}

/** What is kept of an update that Parley does not know: all of it, or its kind and its size. */
function boundedForeign(update: unknown): unknown {
  const text = JSON.stringify(update) ?? 'null'
  if (text.length <= MAX_FOREIGN_CHARS) return withoutLargeMeta(update)
  const kind = textOf(fieldsOf(update)['sessionUpdate']) ?? 'unknown'
  return { sessionUpdate: kind.slice(0, 200), _meta: { 'parley/cut': text.length } }
}

function withoutLargeMeta(update: unknown): unknown {
  if (!isFields(update) || !('_meta' in update)) return update
  const { _meta: meta, ...rest } = update
  const { meta: kept } = metaIn(update)
  return kept === undefined && meta !== undefined ? rest : update
}
