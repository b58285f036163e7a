/** `parley devices ls`: the paired devices with role and last use. */
import { configFor } from '../../configured.ts'
import { printJson } from '../../output/json.ts'
import { ago } from '../../output/terminal/pace.ts'
import { oneLine } from '../../output/terminal/text.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { OK } from '../../runtime/exit-codes.ts'
import { AccessDesk } from './access-desk.ts'

export async function run({ options }: CommandInput): Promise<number> {
  const { devices } = await new AccessDesk(await configFor()).list()
  for (const device of devices) {
    const { id, name, role, lastUsed } = device
    if (options['json'] === true) printJson(device)
    else process.stdout.write(`${id}  ${oneLine(name)}  ${role}  ${ago(new Date(lastUsed))}\n`)
  }
  if (devices.length === 0) process.stderr.write('There are no paired devices; pair one with: parley pair\n')
  return OK
}
