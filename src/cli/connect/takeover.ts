/**
 * A newer Parley takes over from an older server: automatically when that server is idle, otherwise only when the user
 * agrees.
 */
import type { Client } from '../../client/client.ts'
import type { Config } from '../../config/settings.ts'
import { isOlder } from '../../relay/server-upgrade.ts'
import { confirm } from '../prompts/confirm.ts'
import { isTerminal } from '../output/terminal-io.ts'
import { complain } from '../say.ts'

export interface Newer {
  readonly version: string
  readonly config: Config
}

/** Afterwards the client is connected to a server of this version, or still to the older one. */
export async function takeOver(client: Client, { version, config }: Newer): Promise<void> {
  const older = client.version
  if (!isOlder(older, version)) return
  const { stopping, working } = await client.stop({ ifIdle: true })
  if (stopping) return client.reopen()
  const turns = working === 1 ? '1 turn' : `${working} turns`
  if (!isTerminal(process.stdin, config) || !isTerminal(process.stderr, config)) {
    const later = `This is ${version}, which takes over when they have ended, or with: parley stop`
    return complain(`an older Parley (${older}) is still running ${turns}. ${later}`)
  }
  const ends = await confirm(`An older Parley (${older}) is still running ${turns}; end them and restart?`)
  if (!ends) return
  await client.stop({ graceMs: 0 })
  await client.reopen()
}
