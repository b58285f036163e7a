/** `parley token rm NAME`: removes an access token. */
import { AccessTokens } from '../../../credentials/access-tokens.ts'
import { configFor } from '../../configured.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { OK } from '../../runtime/exit-codes.ts'

export async function run({ args: [name = ''] }: CommandInput): Promise<number> {
  const { home } = await configFor()
  new AccessTokens(home, Date).remove(name)
  process.stdout.write(`Token ${name} lets nobody in any more; its connections end within a second.\n`)
  return OK
}
