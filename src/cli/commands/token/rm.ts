/** `parley token rm NAME`: removes an access token. */
import { configFor } from '../../configured.ts'
import { printJson } from '../../output/json.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { OK } from '../../runtime/exit-codes.ts'
import { AccessDesk } from '../access/access-desk.ts'

export async function run({ args: [name = ''], options }: CommandInput): Promise<number> {
  for (const token of await new AccessDesk(await configFor()).remove('token', name)) {
    if (options['json'] === true) printJson(token)
    else process.stdout.write(`Token ${name} is removed; its connections end within a second.\n`)
  }
  return OK
}
