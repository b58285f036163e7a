/** Whether a call continues after a restart: a user allowed it, or it had begun before. */
import type { ResumedCall } from '../../ports/agent.ts'

export function mayContinue({ outcome }: Pick<ResumedCall, 'outcome'>): boolean {
  return outcome.outcome === 'begun' || (outcome.outcome === 'selected' && outcome.kind.startsWith('allow'))
}
