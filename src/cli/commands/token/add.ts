/** `parley token add NAME --role ROLE`: makes an access token and prints it, the only time that it can be seen. */
import { AccessTokens } from '../../../credentials/access-tokens.ts'
import { type Role, ROLES, isRole } from '../../../credentials/roles.ts'
import { fail } from '../../../errors/parley-error.ts'
import { configFor } from '../../configured.ts'
import { printJson } from '../../output/json.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { OK } from '../../runtime/exit-codes.ts'
import { textOption } from '../../runtime/options.ts'

export async function run({ args: [name = ''], options }: CommandInput): Promise<number> {
  const role = roleFrom(textOption(options, 'role'))
  const { home } = await configFor()
  const token = new AccessTokens(home, Date).add(name, role)
  if (options['json'] === true) {
    printJson({ name, role, token })
    return OK
  }
  process.stdout.write(`${token}\n`)
  process.stderr.write(`Token ${name} has the role ${role}. Only its hash is kept, so it is shown this once.\n`)
  return OK
}

/** There is no default: whoever makes a token says what it may do. */
function roleFrom(text: string | undefined): Role {
  if (isRole(text)) return text
  return fail('CONFIG_INVALID', {
    key: '--role',
    value: text === undefined ? 'absent' : JSON.stringify(text),
    reason: `it must be ${ROLES.slice(0, -1).join(', ')} or ${ROLES.at(-1)}`,
  })
}
