/** `parley new`: starts an empty session. */
import { configFor } from '../../configured.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { OK } from '../../runtime/exit-codes.ts'
import { printJson } from '../../output/json.ts'
import { cwdOf, findSession } from '../../sessions/session-resolution.ts'
import { textOption } from '../../runtime/options.ts'
import { isTerminal } from '../../output/terminal-io.ts'
import { noDisplay, workWith } from '../../connect/with-client.ts'

export async function run({ options }: CommandInput): Promise<number> {
  const config = await configFor({ agent: textOption(options, 'agent'), model: textOption(options, 'model') })
  const reaching = { config, embedded: false }
  const isJson = options['json'] === true
  if (!isJson && isTerminal(process.stdin, config) && isTerminal(process.stdout, config)) {
    const { chatOnTerminal } = await import('../../chat/terminal.ts')
    return chatOnTerminal(reaching, options, 'new')
  }
  return workWith(reaching, noDisplay, async ({ client }) => {
    const sessionId = await client.newSession(cwdOf(options))
    if (isJson) printJson(await findSession(client, sessionId))
    else process.stdout.write(`${sessionId}\n`)
    return OK
  })
}
