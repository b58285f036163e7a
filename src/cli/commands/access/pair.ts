/** `parley pair`: a link with which another device is paired, once. */
import { type Role, ROLES, isRole } from '../../../credentials/roles.ts'
import { fail } from '../../../errors/parley-error.ts'
import { configFor } from '../../configured.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { OK } from '../../runtime/exit-codes.ts'
import { textOption } from '../../runtime/options.ts'
import { pageAddressOf, invite, warnIfLocal, printObject } from './invitation.ts'

export async function run({ options }: CommandInput): Promise<number> {
  const role = roleFrom(textOption(options, 'role') ?? 'approve')
  const name = textOption(options, 'name')
  const said = textOption(options, 'url')
  const config = await configFor()
  const address = await pageAddressOf(config, said)
  const invitation = { config, address, grant: { role, ...(name !== undefined && { name }) } }
  if (options['json'] === true) {
    await printObject(invitation)
    return OK
  }
  if (said === undefined && config.server === undefined) warnIfLocal(address)
  return await invite(invitation)
}

function roleFrom(text: string): Role {
  if (isRole(text)) return text
  const reason = `it must be ${ROLES.slice(0, -1).join(', ')} or ${ROLES.at(-1)}`
  return fail('CONFIG_INVALID', { key: '--role', value: JSON.stringify(text), reason })
}
