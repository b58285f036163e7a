/** `parley rm ID…`: deletes sessions for good. A user is asked first; a program must pass `--yes`. */
import type { SessionInfo } from '../../../client/client.ts'
import { configFor } from '../../configured.ts'
import type { Config } from '../../../config/settings.ts'
import { fail } from '../../../errors/parley-error.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { confirm } from '../../prompts/confirm.ts'
import { FAILED, OK } from '../../runtime/exit-codes.ts'
import { findSessions, shortId } from '../../sessions/session-resolution.ts'
import { isTerminal } from '../../output/terminal-io.ts'
import { oneLine } from '../../output/terminal/text.ts'
import { noDisplay, workWith } from '../../connect/with-client.ts'

export async function run({ args, options }: CommandInput): Promise<number> {
  const config = await configFor()
  const asks = options['yes'] !== true
  if (asks) requireTerminal(config)
  return workWith({ config, embedded: false }, noDisplay, async ({ client }) => {
    const sessions = await findSessions(client, args)
    if (asks && !(await confirm(question(sessions)))) return FAILED
    for (const { sessionId } of sessions) await client.deleteSession(sessionId)
    return OK
  })
}

function requireTerminal(config: Config): void {
  if (isTerminal(process.stdin, config) && isTerminal(process.stderr, config)) return
  fail('CONFIG_INVALID', { key: '--yes', value: 'left out', reason: 'there is no terminal to ask on' })
}

function question(sessions: readonly SessionInfo[]): string {
  const names = sessions.map(({ sessionId, title }) => `${shortId(sessionId)} (${oneLine(title ?? 'untitled', 40)})`)
  return `Delete permanently: ${names.join(', ')}?`
}
