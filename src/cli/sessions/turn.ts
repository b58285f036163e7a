/** Runs one prompt until its end, and returns the exit code. */
import { NO_REASON } from '../../client/connection/responses.ts'
import type { Client } from '../../client/client.ts'
import { exitOfStop } from '../runtime/exit-codes.ts'
import type { View } from '../output/view/view.ts'

export interface TurnOf {
  readonly client: Client
  readonly sessionId: string
  readonly view: View
}

/** Throws the server's refusal, once all updates are shown. */
export async function playTurn({ client, sessionId, view }: TurnOf, text: string): Promise<number> {
  view.begin()
  try {
    const { stopReason } = await client.prompt(sessionId, text)
    view.end()
    const why = whyOf(stopReason)
    if (why !== undefined) view.note('dim', why)
    return exitOfStop(stopReason)
  } catch (error) {
    view.end()
    throw error
  }
}

/** Undefined for a turn that ended as it should. */
export function whyOf(stopReason: string): string | undefined {
  if (stopReason === 'end_turn') return undefined
  if (Object.hasOwn(WHY, stopReason)) return WHY[stopReason]
  return stopReason === NO_REASON
    ? '(the agent did not say why its turn is over)'
    : `(the agent ended its turn for a reason that Parley does not know: ${stopReason})`
}

const WHY: Readonly<Record<string, string>> = {
  cancelled: '(cancelled)',
  refusal: '(the agent refused to continue)',
  max_tokens: '(the answer reached its longest length)',
  max_turn_requests: '(the turn reached its largest number of steps)',
}
