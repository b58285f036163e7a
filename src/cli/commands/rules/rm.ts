/** `parley rules rm ID`: takes away a rule of the state directory, or with `--session` what was always allowed in that session. */
import { configFor } from '../../configured.ts'
import { PermissionRules } from '../../../server/compose/permission-rules.ts'
import { removeRule } from '../../../config/rules/permission-tables.ts'
import type { Config } from '../../../config/settings.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { FAILED, OK } from '../../runtime/exit-codes.ts'
import { cwdOf } from '../../sessions/session-resolution.ts'
import { textOption } from '../../runtime/options.ts'
import { noDisplay, workWith } from '../../connect/with-client.ts'
import { rowsOfSession } from './ls.ts'
import { complain } from '../../say.ts'

export async function run({ args: [prefix = ''], options }: CommandInput): Promise<number> {
  const config = await configFor()
  const session = textOption(options, 'session')
  return session === undefined ? removeHere(config, prefix, cwdOf(options)) : revoke(config, prefix, session)
}

async function removeHere(config: Config, prefix: string, cwd: string): Promise<number> {
  const { rules } = await new PermissionRules(config).find(cwd)
  const ids = rules.flatMap(({ id }) => id ?? [])
  const id = onlyOne(ids, prefix)
  if (id === undefined) return refuse(missing(prefix, ids))
  removeRule(config.home, id)
  process.stdout.write(`${id} is gone; the next call is decided without it\n`)
  return OK
}

async function revoke(config: Config, prefix: string, session: string): Promise<number> {
  const rows = await rowsOfSession(config, session)
  const ids = rows.map(({ id }) => id)
  const row = rows.find(({ id }) => id === onlyOne(ids, prefix))
  if (row === undefined) return refuse(missing(prefix, ids))
  return workWith({ config, embedded: false }, noDisplay, async ({ client }) => {
    await client.revoke(row.sessionId, row.grant)
    process.stdout.write(`${row.id} is gone; the next call is asked about\n`)
    return OK
  })
}

function onlyOne(ids: readonly string[], prefix: string): string | undefined {
  const found = ids.filter((id) => prefix !== '' && id.startsWith(prefix))
  return found.length === 1 ? found[0] : undefined
}

function missing(prefix: string, ids: readonly string[]): string {
  const known =
    ids.length === 0 ? 'no rule here can be removed by its id' : `one of these must be named: ${ids.join(', ')}`
  return `no single rule has an id that begins with ${JSON.stringify(prefix)}; ${known}. A rule of a file is removed in that file.`
}

function refuse(reason: string): number {
  complain(reason)
  return FAILED
}
