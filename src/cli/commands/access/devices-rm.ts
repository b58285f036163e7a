/** `parley devices rm NAME`: removes a paired device. */
import { Devices } from '../../../credentials/devices.ts'
import { configFor } from '../../configured.ts'
import { printJson } from '../../output/json.ts'
import { oneLine } from '../../output/terminal/text.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { OK } from '../../runtime/exit-codes.ts'

export async function run({ args: [name = ''], options }: CommandInput): Promise<number> {
  const { home } = await configFor()
  const device = new Devices(home, Date).remove(name)
  if (options['json'] === true) printJson(device)
  else process.stdout.write(`${oneLine(device.name)} gets in no more; its connections end within a second.\n`)
  return OK
}
