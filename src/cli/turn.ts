/** One prompt from its first word to its exit code. */
import type { Client } from '../client/connect.ts'
import { exitOfStop } from './exit.ts'
import type { View } from './view/view.ts'

export interface TurnOf {
  readonly client: Client
  readonly sessionId: string
  readonly view: View
  /** Takes the prompt back while it waits behind others. */
  readonly withdrawn?: AbortSignal
}

/** Throws what the server refused with, once all that was said is shown. */
export async function playTurn({ client, sessionId, view, withdrawn }: TurnOf, text: string): Promise<number> {
  view.begin()
  try {
    const { stopReason } = await client.prompt(sessionId, text, withdrawn)
    view.end()
    const why = withdrawn?.aborted === true ? '(taken back)' : WHY[stopReason]
    if (why !== undefined) view.note('dim', why)
    return exitOfStop(stopReason)
  } catch (error) {
    view.end()
    throw error
  }
}

const WHY: Readonly<Record<string, string>> = {
  cancelled: '(cancelled)',
  refusal: '(the agent refused to go on)',
  max_tokens: '(the answer reached its longest length)',
  max_turn_requests: '(the turn reached its largest number of steps)',
}
