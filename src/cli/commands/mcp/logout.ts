/** `parley mcp logout SERVER`: deletes the credentials of a login. */
import { configFor } from '../../configured.ts'
import { logOut } from '../../../server/admin/mcp-login.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { OK } from '../../runtime/exit-codes.ts'
import { printJson } from '../../output/json.ts'
import { oneLine } from '../../output/terminal/text.ts'
import { loginTarget } from './login-target.ts'

export async function run({ args: [word = ''], options }: CommandInput): Promise<number> {
  const config = await configFor()
  const place = loginTarget(config, word)
  const was = await logOut(config, place)
  if (options['json'] === true) printJson({ loggedOut: was })
  else
    process.stdout.write(was ? `Logged out of ${oneLine(word, 200)}.\n` : `Not logged in to ${oneLine(word, 200)}.\n`)
  return OK
}
