/** `parley stop`: lets running turns end for a while, and returns when the server has gone. */
import { fail } from '../../../errors/parley-error.ts'
import { stopServer } from '../../../server/launch/stop.ts'
import { stopListening } from '../../../server/service/stop-listening.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { lenientConfig } from '../../configured.ts'
import { askToStop } from '../../../server/admin/admin-client.ts'
import { remoteOf } from '../../remote/dial-remote.ts'
import { OK } from '../../runtime/exit-codes.ts'
import { textOption } from '../../runtime/options.ts'

const GRACE_SECONDS = '10'

export async function run({ options }: CommandInput): Promise<number> {
  const graceMs = millisecondsOf(textOption(options, 'grace') ?? GRACE_SECONDS)
  const config = await lenientConfig()
  if (config.server !== undefined) {
    await askToStop({ ...config, ...(await remoteOf(config)) }, { graceMs })
    process.stdout.write(`The Parley server ${config.server} stops.\n`)
    return OK
  }
  await stopListening(config)
  const pid = await stopServer(config, {
    graceMs,
    onProgress: (line) => process.stderr.write(`${line}\n`),
  })
  process.stdout.write(
    pid === undefined ? 'No Parley server is running.\n' : `The Parley server (pid ${pid}) has stopped.\n`,
  )
  return OK
}

function millisecondsOf(value: string): number {
  const seconds = Number(value)
  if (value.trim() !== '' && Number.isFinite(seconds) && seconds >= 0) return seconds * 1000
  return fail('CONFIG_INVALID', {
    key: '--grace',
    value: JSON.stringify(value),
    reason: 'it must be a number of seconds from 0',
  })
}
