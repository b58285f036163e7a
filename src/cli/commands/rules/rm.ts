/** `parley rules rm ID`: removes a rule of the state directory, or with `--session` an answer “always” of that session. */
import type { Config } from '../../../config/settings.ts'
import { type SessionRuleRow, onlyOne, removeStoredRule } from '../../../server/admin/rules.ts'
import { configFor } from '../../configured.ts'
import { noDisplay, workWith } from '../../connect/with-client.ts'
import { askRemote } from '../../remote/ask-remote.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { OK } from '../../runtime/exit-codes.ts'
import { textOption } from '../../runtime/options.ts'
import { cwdOf } from '../../sessions/session-resolution.ts'
import { rulesIn } from './ls.ts'

export async function run({ args: [prefix = ''], options }: CommandInput): Promise<number> {
  const config = await configFor()
  const session = textOption(options, 'session')
  const cwd = cwdOf(options)
  if (session !== undefined) return revoke(config, prefix, { session, cwd })
  const id =
    config.server === undefined
      ? await removeStoredRule(config, prefix, cwd)
      : (
          await askRemote<{ readonly removed: string }>(config, {
            method: '_parley/rules/remove',
            params: { id: prefix, cwd },
          })
        ).removed
  process.stdout.write(`${id} is gone; the next call is decided without it\n`)
  return OK
}

interface Granted {
  readonly session: string
  readonly cwd: string
}

async function revoke(config: Config, prefix: string, { session, cwd }: Granted): Promise<number> {
  const { rules } = await rulesIn(config, cwd, session)
  const rows = rules.filter((row): row is SessionRuleRow => row.from === 'session')
  const id = onlyOne(
    rows.map((row) => row.id),
    prefix,
  )
  const row = rows.find((one) => one.id === id)
  return workWith({ config, embedded: false }, noDisplay, async ({ client }) => {
    if (row !== undefined) await client.revoke(row.sessionId, row.grant)
    process.stdout.write(`${id} is gone; the next call is asked about\n`)
    return OK
  })
}
