/** The last lines of a command that copied sessions and credentials. */
import type { Copied } from '../../../server/cluster/copy-sessions.ts'
import { printJson } from '../../output/json.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { OK } from '../../runtime/exit-codes.ts'

export function tellCopied(copied: Copied, { options }: CommandInput): number {
  const { sessions, entries, skipped, credentials } = copied
  if (options['json'] === true) printJson(copied)
  else {
    process.stdout.write(`${sessions} sessions with ${entries} entries were copied; ${skipped} were there already\n`)
    if (credentials > 0) process.stdout.write(`${credentials} access tokens, devices and share links were copied\n`)
  }
  return OK
}
