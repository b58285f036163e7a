/** The last row of a chat: the agent and its settings, how full its context is, the other clients, and the session's id. */
import type { Setting } from '../../client/sessions/agent-settings.ts'
import type { Update } from '../../client/incoming/updates.ts'
import { oneLine, widthOf } from '../output/terminal/text.ts'
import type { Look } from '../output/view/rows.ts'
import { shortId } from '../sessions/session-resolution.ts'

export interface ContextUsage {
  readonly used: number
  readonly size: number
  readonly cost: string | undefined
}

export interface StatusLineState {
  /** A message that the user must read now, such as that the connection is lost; empty for none. */
  readonly urgent: string
  /** Why nothing is to be seen of the agent; empty where nothing needs an explanation. */
  readonly doing: string
  /** The agent, where no setting names it. */
  readonly agent: string | undefined
  readonly settings: readonly Setting[]
  readonly usage: ContextUsage | undefined
  readonly waiting: number
  /** As other clients call themselves. */
  readonly others: readonly string[]
  readonly sessionId: string
}

/** Undefined for another update, and for one that does not say it. */
export function contextUsageIn({ sessionUpdate, used, size, cost }: Update): ContextUsage | undefined {
  if (sessionUpdate !== 'usage_update' || typeof used !== 'number' || typeof size !== 'number') return undefined
  const { amount, currency } = (cost ?? {}) as { readonly amount?: unknown; readonly currency?: unknown }
  const said = typeof amount === 'number' ? `${amount.toFixed(2)} ${String(currency)}` : undefined
  return { used, size, cost: said }
}

/** Leaves out the parts that do not fit, highest `rank` first, because those are needed least. */
export function statusRow(standing: StatusLineState, { paint, width }: Look): string {
  const urgent = standing.urgent === '' ? '' : oneLine(standing.urgent, width() - 2)
  const lead = urgent === '' ? '  ' : `  ${urgent} · `
  const parts = statusParts(standing)
  let shown = parts
  while (shown.length > 0 && widthOf(lead + joined(shown)) > width()) {
    const least = Math.max(...shown.map(({ rank }) => rank))
    shown = shown.filter(({ rank }) => rank !== least)
  }
  const rest = joined(shown)
  if (urgent === '') return paint('dim', lead + rest)
  return `  ${paint('asking', urgent)}${rest === '' ? '' : paint('dim', ` · ${rest}`)}`
}

interface Part {
  readonly text: string
  readonly rank: number
}

function statusParts({ doing, agent, settings, usage, waiting, others, sessionId }: StatusLineState): readonly Part[] {
  const model = settings.find(({ category }) => category === 'model')
  const modes = settings.filter(({ category }) => category === 'mode')
  return [
    { text: oneLine(doing, 80), rank: 0 },
    { text: cut(model === undefined ? (agent ?? '') : currentName(model)), rank: 2 },
    ...modes.map((mode) => ({ text: cut(currentName(mode)), rank: 3 })),
    { text: usage === undefined ? '' : fullness(usage), rank: 4 },
    { text: usage?.cost ?? '', rank: 5 },
    { text: waiting === 0 ? '' : `${waiting} queued`, rank: 6 },
    { text: others.length === 0 ? '' : `with ${counted(others).join(', ')}`, rank: 7 },
    { text: shortId(sessionId), rank: 1 },
  ].filter(({ text }) => text !== '')
}

function joined(parts: readonly Part[]): string {
  return parts.map(({ text }) => text).join(' · ')
}

function cut(text: string): string {
  return oneLine(text, 32)
}

/** The name of the choice, as users see it. */
export function currentName({ value, choices }: Setting): string {
  if (typeof value === 'boolean') return value ? 'on' : 'off'
  return choices.find((choice) => choice.value === value)?.name ?? value
}

function fullness({ used, size }: ContextUsage): string {
  return size > 0 ? `${Math.round((used / size) * 100)} % of ${rounded(size)}` : `${rounded(used)} tokens`
}

function rounded(count: number): string {
  if (count >= 1_000_000) return `${Number((count / 1_000_000).toFixed(1))}M`
  return count >= 1_000 ? `${Math.round(count / 1_000)}k` : String(count)
}

/** Names that are alike are shown once, with their number. */
function counted(names: readonly string[]): readonly string[] {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts].map(([name, count]) => oneLine(count === 1 ? name : `${name} ×${count}`, 40))
}
