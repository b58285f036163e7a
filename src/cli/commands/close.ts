/** `parley close ID…`: ends what runs in sessions. They stay, and open again when somebody loads them. */
import { configFor } from '../configured.ts'
import type { CommandInput } from '../command.ts'
import { OK } from '../exit.ts'
import { findSessions } from '../opening.ts'
import { nobody, workWith } from '../working.ts'

export async function run({ args }: CommandInput): Promise<number> {
  const config = await configFor()
  return workWith({ config, embedded: false }, nobody, async ({ client }) => {
    for (const { sessionId } of await findSessions(client, args)) await client.closeSession(sessionId)
    return OK
  })
}
