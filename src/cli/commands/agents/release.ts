/** `parley release ID…`: ends the agents of idle sessions, so that their own tools can open them. */
import { configFor } from '../../configured.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { OK } from '../../runtime/exit-codes.ts'
import { findSessions, shortId } from '../../sessions/session-resolution.ts'
import { noDisplay, workWith } from '../../connect/with-client.ts'
import { complain } from '../../say.ts'

export async function run({ args }: CommandInput): Promise<number> {
  const config = await configFor()
  return workWith({ config, embedded: false }, noDisplay, async ({ client }) => {
    for (const { sessionId } of await findSessions(client, args)) {
      const isEnded = await client.release(sessionId)
      if (!isEnded) complain(`${shortId(sessionId)} has no idle agent.`)
    }
    return OK
  })
}
