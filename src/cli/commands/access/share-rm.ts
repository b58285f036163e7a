/** `parley share rm LINK`: revokes a share link. */
import { configFor } from '../../configured.ts'
import { printJson } from '../../output/json.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { OK } from '../../runtime/exit-codes.ts'
import { AccessDesk } from './access-desk.ts'

export async function run({ args: [name = ''], options }: CommandInput): Promise<number> {
  for (const link of await new AccessDesk(await configFor()).remove('share', name)) {
    if (options['json'] === true) printJson(link)
    else process.stdout.write(`Share link ${link.id} has ended; its readers are cut off within a second.\n`)
  }
  return OK
}
