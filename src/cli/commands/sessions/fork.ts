/** `parley fork ID`: copies a session, whole or up to an entry, into a new one. */
import { configFor } from '../../configured.ts'
import { fail } from '../../../errors/parley-error.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { OK } from '../../runtime/exit-codes.ts'
import { printJson } from '../../output/json.ts'
import { findSession } from '../../sessions/session-resolution.ts'
import { textOption } from '../../runtime/options.ts'
import { noDisplay, workWith } from '../../connect/with-client.ts'

export async function run({ args, options }: CommandInput): Promise<number> {
  const [id = ''] = args
  const at = seqOf(textOption(options, 'upTo'))
  const config = await configFor()
  return workWith({ config, embedded: false }, noDisplay, async ({ client }) => {
    const { sessionId } = await findSession(client, id)
    const fork = await client.fork(sessionId, at)
    if (options['json'] === true) printJson(await findSession(client, fork))
    else process.stdout.write(`${fork}\n`)
    return OK
  })
}

function seqOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (/^[1-9]\d{0,14}$/u.test(text)) return Number(text)
  return fail('CONFIG_INVALID', {
    key: '--up-to',
    value: JSON.stringify(text),
    reason: 'it must be the number of an entry',
  })
}
