/** `parley token ls`: the access tokens with role and last use; never a token itself. */
import { configFor } from '../../configured.ts'
import { printJson } from '../../output/json.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { OK } from '../../runtime/exit-codes.ts'
import { AccessDesk } from '../access/access-desk.ts'

export async function run({ options }: CommandInput): Promise<number> {
  const { tokens } = await new AccessDesk(await configFor()).list()
  for (const token of tokens) {
    const { name, role, created, lastUsed } = token
    if (options['json'] === true) printJson(token)
    else
      process.stdout.write(
        `${name}  ${role}  made ${created}  ${lastUsed === undefined ? 'never used' : `last used ${lastUsed}`}\n`,
      )
  }
  if (tokens.length === 0)
    process.stderr.write('There are no access tokens; make one with: parley token add NAME --role read\n')
  return OK
}
