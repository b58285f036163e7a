/** The steps of a script by which its agent says something about itself or the session, and not in the conversation. */
import type { CompactionPatch, Content, Notice, SlashCommand, Usage } from '../../../ports/content.ts'
import type { ConfigValue } from '../../../ports/settings.ts'
import { contentBlock } from './content.ts'
import { type Fields, given, list, object, oneOf, only, optionalText, text, whole } from './fields.ts'
import { type ScriptOffer, requireMode, requireValue } from './offer.ts'

export type About =
  | { readonly kind: 'mode'; readonly modeId: string }
  | { readonly kind: 'config'; readonly configId: string; readonly value: ConfigValue }
  | { readonly kind: 'usage'; readonly usage: Usage }
  | { readonly kind: 'title'; readonly title: string }
  | { readonly kind: 'commands'; readonly commands: readonly SlashCommand[] }
  | { readonly kind: 'notice'; readonly notice: Notice }
  | { readonly kind: 'compaction'; readonly compactionId: string; readonly patch: CompactionPatch }
  | { readonly kind: 'summary'; readonly compactionId: string; readonly content: Content }

/** By the key that makes the step; what it sets must be what the agent offers. */
export const aboutSteps: Readonly<Record<string, (value: unknown, offer: ScriptOffer) => About>> = {
  mode: (value, offer) => ({ kind: 'mode', modeId: requireMode(offer, text({ mode: value }, 'mode')) }),
  config: (value, offer) => config(object(value, 'config'), offer),
  usage: (value) => ({ kind: 'usage', usage: usage(given(object(value, 'usage'))) }),
  title: (value) => ({ kind: 'title', title: text({ title: value }, 'title') }),
  commands: (value) => ({ kind: 'commands', commands: list(value, 'commands').map(command) }),
  notice: (value) => ({ kind: 'notice', notice: notice(given(object(value, 'notice'))) }),
  compaction: (value) => compaction(given(object(value, 'compaction'))),
}

function config(fields: Fields, offer: ScriptOffer): About {
  only(fields, ['configId', 'value'], 'config')
  const configId = text(fields, 'configId')
  return { kind: 'config', configId, value: requireValue(offer, configId, fields['value']) }
}

function usage(fields: Fields): Usage {
  only(fields, ['used', 'size', 'cost'], 'usage')
  const { cost } = fields
  const told = { used: whole(fields, 'used'), size: whole(fields, 'size') }
  return cost === undefined ? told : { ...told, cost: costOf(object(cost, 'cost')) }
}

function costOf(fields: Fields): NonNullable<Usage['cost']> {
  const { amount } = only(fields, ['amount', 'currency'], 'cost')
  if (typeof amount !== 'number') throw new Error('amount must be a number')
  return { amount, currency: text(fields, 'currency') }
}

function command(value: unknown): SlashCommand {
  const fields = only(given(object(value, 'a command')), ['name', 'description', 'hint'], 'a command')
  const hint = optionalText(fields['hint'], 'hint')
  return { name: text(fields, 'name'), description: text(fields, 'description'), ...(hint !== undefined && { hint }) }
}

/** `message` is another word for its title. */
function notice(fields: Fields): Notice {
  only(fields, ['severity', 'title', 'message', 'description'], 'a notice')
  const { severity = 'info', message, title = message, description, _meta } = fields
  const said = optionalText(description, 'description')
  if (text({ title }, 'title') === '') throw new Error('title must not be empty')
  return {
    severity: text({ severity }, 'severity'),
    title: text({ title }, 'title'),
    ...(said !== undefined && { description: said }),
    ...(_meta !== undefined && { meta: object(_meta, '_meta') }),
  }
}

const STATUSES = ['in_progress', 'completed', 'failed', 'cancelled'] as const

/** With a `chunk` it adds to the summary; otherwise it says how far the compaction is. */
function compaction(fields: Fields): About {
  only(fields, ['compactionId', 'status', 'summary', 'error', 'chunk'], 'a compaction')
  const { compactionId = 'compaction', chunk, status = 'in_progress', summary, error } = fields
  const id = text({ compactionId }, 'compactionId')
  if (chunk !== undefined) return { kind: 'summary', compactionId: id, content: block(chunk) }
  const state = oneOf(STATUSES, status, 'status')
  if (summary !== undefined && state !== 'completed') throw new Error('only a completed compaction has a summary')
  if (error !== undefined && state !== 'failed') throw new Error('only a failed compaction has an error')
  const why = optionalText(error, 'error')
  const patch = {
    status: state,
    ...(summary !== undefined && { summary: list(summary, 'summary').map(block) }),
    ...(why !== undefined && { error: why }),
  }
  return { kind: 'compaction', compactionId: id, patch }
}

/** A bare text is text content. */
function block(value: unknown): Content {
  return typeof value === 'string' ? { type: 'text', text: value } : contentBlock(value)
}
