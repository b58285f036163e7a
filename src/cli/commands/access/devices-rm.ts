/** `parley devices rm NAME`: removes a paired device. */
import { configFor } from '../../configured.ts'
import { printJson } from '../../output/json.ts'
import { oneLine } from '../../output/terminal/text.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { OK } from '../../runtime/exit-codes.ts'
import { AccessDesk } from './access-desk.ts'

export async function run({ args: [name = ''], options }: CommandInput): Promise<number> {
  for (const device of await new AccessDesk(await configFor()).remove('device', name)) {
    if (options['json'] === true) printJson(device)
    else process.stdout.write(`${oneLine(device.name)} is removed; its connections end within a second.\n`)
  }
  return OK
}
