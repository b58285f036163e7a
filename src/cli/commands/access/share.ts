/** `parley share ID`: prints a link with which others can read one session, live, until it expires. */
import { fail } from '../../../errors/parley-error.ts'
import { configFor } from '../../configured.ts'
import { printJson } from '../../output/json.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { OK } from '../../runtime/exit-codes.ts'
import { textOption } from '../../runtime/options.ts'
import { idsOf } from '../../sessions/stored-reader.ts'
import { AccessDesk } from './access-desk.ts'
import { pageAddressOf, warnIfLocal } from './invitation.ts'
import { run as list } from './share-ls.ts'

const HOURS = { s: 1 / 3_600, m: 1 / 60, h: 1, d: 24 } as const

export async function run(input: CommandInput): Promise<number> {
  const { args, options } = input
  if (args[0] === undefined) return list(input)
  const hours = hoursFrom(textOption(options, 'for') ?? '24h')
  const said = textOption(options, 'url')
  const config = await configFor()
  const [sessionId = ''] = await idsOf(config, [args[0]])
  const address = await pageAddressOf(config, said)
  const tools = options['tools'] !== false
  const { link: made, code } = await new AccessDesk(config).share({ sessionId, tools, hours })
  const link = `${address}#share=${code}`
  if (options['json'] === true) {
    printJson({ link, ...made })
    return OK
  }
  if (said === undefined && config.server === undefined) warnIfLocal(address)
  process.stdout.write(`${link}\n`)
  process.stderr.write(
    `Everyone who has it can read this session until ${made.until}. Sooner: parley share rm ${made.id}\n`,
  )
  return OK
}

function hoursFrom(text: string): number {
  const [, digits, unit] = /^(\d{1,4})([smhd])$/u.exec(text) ?? []
  const hours = Number(digits) * HOURS[unit as keyof typeof HOURS]
  if (hours > 0 && hours <= 30 * HOURS.d) return hours
  const reason = 'it must be a time such as 30m, 24h or 7d, at most 30d'
  return fail('CONFIG_INVALID', { key: '--for', value: JSON.stringify(text), reason })
}
