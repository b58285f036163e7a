/** `parley close ID…`: closes sessions and cancels their turns. A later load opens them again. */
import { configFor } from '../../configured.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { OK } from '../../runtime/exit-codes.ts'
import { findSessions } from '../../sessions/session-resolution.ts'
import { noDisplay, workWith } from '../../connect/with-client.ts'

export async function run({ args }: CommandInput): Promise<number> {
  const config = await configFor()
  return workWith({ config, embedded: false }, noDisplay, async ({ client }) => {
    for (const { sessionId } of await findSessions(client, args)) await client.closeSession(sessionId)
    return OK
  })
}
