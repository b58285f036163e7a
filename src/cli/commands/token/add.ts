/** `parley token add NAME --role ROLE`: makes an access token and prints it, the only time that it can be seen. */
import { resolve } from 'node:path'
import { type Role, ROLES, isRole } from '../../../credentials/roles.ts'
import type { Scope } from '../../../credentials/scope.ts'
import { fail } from '../../../errors/parley-error.ts'
import type { Config } from '../../../config/settings.ts'
import { configFor } from '../../configured.ts'
import { printJson } from '../../output/json.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { OK } from '../../runtime/exit-codes.ts'
import { textOption, textsOption } from '../../runtime/options.ts'
import { idsOf } from '../../sessions/stored-reader.ts'
import { AccessDesk } from '../access/access-desk.ts'

export async function run({ args: [name = ''], options }: CommandInput): Promise<number> {
  const role = roleFrom(textOption(options, 'role'))
  const config = await configFor()
  const scope = await scopeFrom(config, options)
  const token = await new AccessDesk(config).addToken({ name, role, scope })
  if (options['json'] === true) {
    printJson({ name, role, ...(scope !== 'all' && { scope }), token })
    return OK
  }
  process.stdout.write(`${token}\n`)
  process.stderr.write(`Token ${name} has the role ${role}. Only its hash is kept, so it is shown this once.\n`)
  return OK
}

async function scopeFrom(config: Config, options: CommandInput['options']): Promise<Scope> {
  const sessions = textsOption(options, 'session')
  // For a remote server the directories are those of its machine, so they are sent as given.
  const directories = textsOption(options, 'dir').map((path) => (config.server === undefined ? resolve(path) : path))
  if (sessions.length > 0 && directories.length > 0)
    return fail('CONFIG_INVALID', { key: '--session', value: 'set', reason: 'give sessions or directories, not both' })
  if (sessions.length > 0) return { sessions: await idsOf(config, sessions) }
  return directories.length === 0 ? 'all' : { directories }
}

/** There is no default role: the user who makes a token must choose one. */
function roleFrom(text: string | undefined): Role {
  if (isRole(text)) return text
  return fail('CONFIG_INVALID', {
    key: '--role',
    value: text === undefined ? 'absent' : JSON.stringify(text),
    reason: `it must be ${ROLES.slice(0, -1).join(', ')} or ${ROLES.at(-1)}`,
  })
}
