/** `parley pair`: a link with which another device is paired, once. */
import { type Role, ROLES, isRole } from '../../../credentials/roles.ts'
import { fail, isParleyError } from '../../../errors/parley-error.ts'
import type { Config } from '../../../config/settings.ts'
import { askToListen } from '../../../server/admin/admin-client.ts'
import { configFor } from '../../configured.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { OK } from '../../runtime/exit-codes.ts'
import { textOption } from '../../runtime/options.ts'
import { complain } from '../../say.ts'
import { addressIn, invite, isLocal, printObject } from './invitation.ts'

export async function run({ options }: CommandInput): Promise<number> {
  const role = roleFrom(textOption(options, 'role') ?? 'approve')
  const name = textOption(options, 'name')
  const said = textOption(options, 'url')
  const config = await configFor()
  const address = said === undefined ? await addressOf(config) : pageFrom(said)
  const invitation = { config, address, grant: { role, ...(name !== undefined && { name }) } }
  if (options['json'] === true) {
    printObject(invitation)
    return OK
  }
  if (said === undefined && isLocal(address))
    complain('This address is of this machine alone. For others, see: parley serve --help, or give --url')
  return await invite(invitation)
}

async function addressOf(config: Config): Promise<string> {
  try {
    return addressIn(await askToListen(config, {}))
  } catch (error) {
    if (isParleyError(error, 'SERVER_ABSENT')) return fail('LISTENS_NOWHERE', {}, error)
    throw error
  }
}

function pageFrom(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol === 'https:' || url?.protocol === 'http:')
    return `${url.origin}${url.pathname.replace(/\/?$/u, '/')}`
  const reason = 'it must be an address of the web, such as https://parley.example'
  return fail('CONFIG_INVALID', { key: '--url', value: JSON.stringify(text), reason })
}

function roleFrom(text: string): Role {
  if (isRole(text)) return text
  const reason = `it must be ${ROLES.slice(0, -1).join(', ')} or ${ROLES.at(-1)}`
  return fail('CONFIG_INVALID', { key: '--role', value: JSON.stringify(text), reason })
}
