/** `parley rename ID TITLE`: changes the title of a session, for every client that has it open. */
import { configFor } from '../../configured.ts'
import { fail } from '../../../errors/parley-error.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { OK } from '../../runtime/exit-codes.ts'
import { findSession } from '../../sessions/session-resolution.ts'
import { noDisplay, workWith } from '../../connect/with-client.ts'

export async function run({ args }: CommandInput): Promise<number> {
  const [id = '', title = ''] = args
  if (title.trim() === '') fail('CONFIG_INVALID', { key: 'TITLE', value: JSON.stringify(title), reason: 'it is empty' })
  const config = await configFor()
  return workWith({ config, embedded: false }, noDisplay, async ({ client }) => {
    const { sessionId } = await findSession(client, id)
    await client.rename(sessionId, title)
    return OK
  })
}
