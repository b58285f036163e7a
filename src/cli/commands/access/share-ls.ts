/** `parley share ls`: the share links, and when each ends. */
import { configFor } from '../../configured.ts'
import { printJson } from '../../output/json.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { OK } from '../../runtime/exit-codes.ts'
import { shortId } from '../../sessions/session-resolution.ts'
import { AccessDesk } from './access-desk.ts'

export async function run({ options }: CommandInput): Promise<number> {
  const { shares: links } = await new AccessDesk(await configFor()).list()
  for (const link of links) {
    const { id, sessionId, tools, until } = link
    if (options['json'] === true) printJson(link)
    else process.stdout.write(`${id}  session ${shortId(sessionId)}  until ${until}${tools ? '' : '  without tools'}\n`)
  }
  if (links.length === 0) process.stderr.write('There are no share links; make one with: parley share ID\n')
  return OK
}
