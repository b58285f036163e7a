/** Runs one prompt until its end, and returns the exit code. */
import type { Client } from '../../client/client.ts'
import type { PromptResult } from '../../client/connection/responses.ts'
import { exitOfStop } from '../runtime/exit-codes.ts'
import type { View } from '../output/view/view.ts'

export interface TurnOf {
  readonly client: Client
  readonly sessionId: string
  readonly view: View
}

/** Throws the server's refusal, once all updates are shown. */
export async function playTurn({ client, sessionId, view }: TurnOf, text: string): Promise<number> {
  let isShown = false
  // Called before the next update is shown, which may be the prompt of the next turn.
  const ended = ({ stopReason }: PromptResult): void => {
    if (!isShown) view.end(stopReason)
    isShown = true
  }
  view.begin()
  try {
    const result = await client.prompt(sessionId, text, { ended })
    ended(result)
    return exitOfStop(result.stopReason)
  } catch (error) {
    view.end()
    throw error
  }
}
