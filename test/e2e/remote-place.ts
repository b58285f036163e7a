/** A server of the real binary that remote clients reach on a free port of loopback, with tokens for them. */
import { AccessTokens } from '../../src/credentials/access-tokens.ts'
import type { Role } from '../../src/credentials/roles.ts'
import type { Cli } from './cli.ts'
import type { Fields } from './message.ts'
import { type Place, placeWith, start } from './server.ts'

export interface Remote {
  readonly place: Place
  readonly cli: Cli
  /** Of the endpoint. */
  readonly url: string
  readonly port: number
  /** Adds one, by default under a name of its own. */
  readonly token: (role: Role, name?: string) => string
}

export async function remote(
  args: readonly string[] = [],
  {
    script = [{ chunk: 'Hello.' }],
    env = {},
  }: { readonly script?: readonly Fields[]; readonly env?: Record<string, string> } = {},
): Promise<Remote> {
  const place = await placeWith(script)
  const cli = start(place, ['serve', '--listen', '0', ...args], env)
  await cli.until('/acp')
  const [url = '', port = ''] = /wss?:\/\/127\.0\.0\.1:(\d+)\/acp/u.exec(cli.stdout) ?? []
  const tokens = new AccessTokens(place.home, Date)
  let names = 0
  const token: Remote['token'] = (role, name = `${role}-${(names += 1)}`) => tokens.add(name, role)
  return { place, cli, url, port: Number(port), token }
}
