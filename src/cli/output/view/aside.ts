/** Renders updates about the agent and the session, and how a turn ended, as one line of text each. */
import { NO_REASON } from '../../../client/connection/responses.ts'
import type { Update } from '../../../client/incoming/updates.ts'
import type { EndItem } from '../../../client/transcript/items.ts'
import { formatCount } from '../../../text/shorten.ts'
import { oneLine } from '../terminal/text.ts'

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

/** Undefined for a turn that ended as it should. */
export function endLine({ stopReason, by }: Pick<EndItem, 'stopReason' | 'by'>): string | undefined {
  if (stopReason === 'end_turn') return undefined
  if (stopReason === 'cancelled') return by === undefined ? '– stopped –' : `– stopped by ${oneLine(by, 60)} –`
  const why = Object.hasOwn(WHY, stopReason) ? WHY[stopReason] : undefined
  return `– ${why ?? `the agent ended its turn for a reason that Parley does not know: ${oneLine(stopReason)}`} –`
}

/** The words of the page. */
const WHY: Readonly<Record<string, string>> = {
  refusal: 'the agent refused to go on',
  max_tokens: 'the answer came to its length limit',
  max_turn_requests: 'the turn has used all its steps',
  [NO_REASON]: 'the agent did not say why its turn is over',
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}
