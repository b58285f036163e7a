/** `parley share rm LINK`: takes a share link back. */
import { ShareLinks } from '../../../credentials/share-links.ts'
import { configFor } from '../../configured.ts'
import { printJson } from '../../output/json.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { OK } from '../../runtime/exit-codes.ts'

export async function run({ args: [name = ''], options }: CommandInput): Promise<number> {
  const { home } = await configFor()
  for (const link of new ShareLinks(home, Date).remove(name)) {
    if (options['json'] === true) printJson(link)
    else process.stdout.write(`${link.id} shows the session no more; who follows it is cut off within a second.\n`)
  }
  return OK
}
