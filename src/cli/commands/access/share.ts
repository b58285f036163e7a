/** `parley share ID`: a link by which others read one session, live, until it ends. */
import { ShareLinks } from '../../../credentials/share-links.ts'
import { fail } from '../../../errors/parley-error.ts'
import { openReader } from '../../../server/offline/offline-sessions.ts'
import type { Config } from '../../../config/settings.ts'
import { configFor } from '../../configured.ts'
import { printJson } from '../../output/json.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { OK } from '../../runtime/exit-codes.ts'
import { textOption } from '../../runtime/options.ts'
import { pageAddressOf, warnIfLocal } from './invitation.ts'
import { run as list } from './share-ls.ts'

const UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const

export async function run(input: CommandInput): Promise<number> {
  const { args, options } = input
  if (args[0] === undefined) return list(input)
  const forMs = durationFrom(textOption(options, 'for') ?? '24h')
  const said = textOption(options, 'url')
  const config = await configFor()
  const sessionId = await sessionNamed(config, args[0])
  const address = await pageAddressOf(config, said)
  const tools = options['tools'] !== false
  const { link: made, code } = new ShareLinks(config.home, Date).add({ sessionId, tools, forMs })
  const link = `${address}#share=${code}`
  if (options['json'] === true) {
    printJson({ link, ...made })
    return OK
  }
  if (said === undefined) warnIfLocal(address)
  process.stdout.write(`${link}\n`)
  process.stderr.write(
    `Everyone who has it can read this session until ${made.until}. Sooner: parley share rm ${made.id}\n`,
  )
  return OK
}

async function sessionNamed(config: Config, prefix: string): Promise<string> {
  const reader = await openReader(config)
  try {
    return (await reader.find(prefix)).sessionId
  } finally {
    await reader.close()
  }
}

function durationFrom(text: string): number {
  const [, digits, unit] = /^(\d{1,4})([mhd])$/u.exec(text) ?? []
  const ms = Number(digits) * UNITS[unit as keyof typeof UNITS]
  if (ms > 0 && ms <= 30 * UNITS.d) return ms
  const reason = 'it must be a time such as 30m, 24h or 7d, at most 30d'
  return fail('CONFIG_INVALID', { key: '--for', value: JSON.stringify(text), reason })
}
