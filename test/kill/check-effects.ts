/** Nothing repeats by itself: a tool ran at most once for each call that was begun, and every call that succeeded did run. */
import type { Fields } from '../e2e/message.ts'
import type { Evidence, Finding, JournalRow } from './evidence.ts'

interface Counts {
  /** Without those that surely did not run, as they say. */
  begun: number
  completed: number
}

export function checkEffects({ journal, effects }: Evidence): readonly Finding[] {
  const calls = countCalls(journal)
  const labels = new Set([...calls.keys(), ...effects.map(({ label }) => label)])
  return [...labels].flatMap((label): readonly Finding[] => {
    const ran = effects.filter((effect) => effect.label === label).length
    const { begun, completed } = calls.get(label) ?? { begun: 0, completed: 0 }
    if (ran > begun) return [{ kind: 'doubled', what: `${label} ran ${ran} times; ${begun} calls were begun` }]
    if (ran < completed) return [{ kind: 'lost', what: `${label} ran ${ran} times; ${completed} calls succeeded` }]
    return []
  })
}

/** Which of the tool's labels a call is about stands in its arguments. */
function countCalls(journal: readonly JournalRow[]): ReadonlyMap<string, Counts> {
  const labels = new Map<string, string>()
  const counts = new Map<string, Counts>()
  for (const { body } of journal) {
    const patch = (body['call'] ?? body['patch']) as Fields | undefined
    const id = body['toolCallId']
    if (patch === undefined || typeof id !== 'string' || !body.kind.startsWith('tool_call')) continue
    const label = (patch['rawInput'] as { readonly label?: string } | undefined)?.label ?? labels.get(id)
    if (label === undefined) continue
    labels.set(id, label)
    const count = counts.get(label) ?? { begun: 0, completed: 0 }
    if (patch['status'] === 'in_progress') count.begun += 1
    const isRefused = patch['status'] === 'failed' || patch['status'] === 'cancelled'
    if (isRefused && JSON.stringify(patch['content'] ?? '').includes('was not run')) count.begun -= 1
    if (patch['status'] === 'completed') count.completed += 1
    counts.set(label, count)
  }
  return counts
}
