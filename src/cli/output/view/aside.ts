/** Renders updates about the agent and the session, which are no part of the conversation, as one line of text each. */
import type { Update } from '../../../client/incoming/updates.ts'
import { formatCount } from '../../../text/shorten.ts'

type Fields = Readonly<Record<string, unknown>>

/** Undefined for an update that is shown elsewhere, or that users do not look for. */
export function asideOf(update: Update): string | undefined {
  switch (update.sessionUpdate) {
    case 'current_mode_update':
      return `mode: ${String(update['currentModeId'])}`
    case 'config_option_update':
      return optionsLine(update['configOptions'])
    case 'compaction_update':
      return compactionLine(update)
    case 'notice':
      return noticeLine(update)
    default:
      return undefined
  }
}

/** How full the context is; undefined for any other update. */
export function usageOf({ sessionUpdate, used, size, cost }: Update): string | undefined {
  if (sessionUpdate !== 'usage_update' || typeof used !== 'number' || typeof size !== 'number') return undefined
  const share = size > 0 ? ` (${Math.round((used / size) * 100)} %)` : ''
  return `context: ${formatCount(used)} of ${formatCount(size)} tokens${share}${costLine(cost)}`
}

function costLine(cost: unknown): string {
  const { amount, currency } = fieldsOf(cost)
  return typeof amount === 'number' ? ` · ${amount.toFixed(2)} ${String(currency)}` : ''
}

/** The option that stands for the mode is shown as the mode. */
function optionsLine(value: unknown): string | undefined {
  const options = (Array.isArray(value) ? (value as readonly unknown[]) : []).map(fieldsOf)
  const shown = options.filter(({ category }) => category !== 'mode')
  if (shown.length === 0) return undefined
  return shown.map(({ name, id, currentValue }) => `${String(name ?? id)}: ${String(currentValue)}`).join(' · ')
}

function compactionLine({ status, error }: Update): string | undefined {
  switch (status) {
    case 'in_progress':
      return 'making the context shorter …'
    case 'completed':
      return 'the context is shorter now; the transcript stays whole'
    case 'failed':
      return `the context could not be made shorter${typeof error === 'string' ? `: ${error}` : ''}`
    default:
      return undefined
  }
}

function noticeLine({ severity, title, description }: Update): string {
  const lead = severity === 'warning' || severity === 'error' ? `${severity}: ` : ''
  return `${lead}${String(title)}${typeof description === 'string' ? ` — ${description}` : ''}`
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}
