/** `parley attach [ID]`: joins a session: at a terminal as a chat, otherwise only to follow it. */
import { configFor } from '../../configured.ts'
import { fail } from '../../../errors/parley-error.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { followSession } from '../../sessions/follow.ts'
import { textOption } from '../../runtime/options.ts'
import { isTerminal } from '../../output/terminal-io.ts'

export async function run({ args, options }: CommandInput): Promise<number> {
  const [session] = args
  if (session === '') fail('CONFIG_INVALID', { key: 'ID', value: '""', reason: 'name a session, or leave it out' })
  const config = await configFor({ agent: textOption(options, 'agent') })
  const reaching = { config, embedded: false }
  const wanted = { ...options, session }
  const takesPart = isTerminal(process.stdin, config) && isTerminal(process.stdout, config)
  if (options['json'] === true || !takesPart) return followSession(reaching, wanted)
  const { chatOnTerminal } = await import('../../chat/terminal.ts')
  return chatOnTerminal(reaching, wanted, 'join')
}
