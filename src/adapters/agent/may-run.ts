/** Whether a call goes on after a restart: somebody allowed it, or it had begun and nobody need be asked. */
import type { ResumedCall } from '../../ports/agent.ts'

export function mayRun({ outcome }: Pick<ResumedCall, 'outcome'>): boolean {
  return outcome.outcome === 'begun' || (outcome.outcome === 'selected' && outcome.kind.startsWith('allow'))
}
