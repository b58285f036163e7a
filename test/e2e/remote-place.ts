/** A server of the real binary that remote clients reach on a free port of loopback, with tokens for them. */
import { AccessTokens } from '../../src/credentials/access-tokens.ts'
import type { Role } from '../../src/credentials/roles.ts'
import type { Cli } from './cli.ts'
import { serveHere } from './hosted-server.ts'
import type { Fields } from './message.ts'
import { type Place, placeWith, start } from './server.ts'

export interface Remote {
  readonly place: Place
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
  return remoteOf(place, await serveHere({ ...place, env }, ['--listen', '0', ...args]))
}

/** The same with a process of its own, which a test may kill; for one that comes back with a `port` that no other takes meanwhile. */
export async function remoteProcess(
  args: readonly string[] = [],
  script: readonly Fields[] = [{ chunk: 'Hello.' }],
  port = 0,
): Promise<Remote & { readonly cli: Cli }> {
  const place = await placeWith(script)
  const cli = start(place, ['serve', '--listen', String(port), ...args])
  await cli.until('/acp')
  return { ...remoteOf(place, cli.stdout), cli }
}

function remoteOf(place: Place, printed: string): Remote {
  const [url = '', port = ''] = /wss?:\/\/127\.0\.0\.1:(\d+)\/acp/u.exec(printed) ?? []
  const tokens = new AccessTokens(place.home, Date)
  let names = 0
  const token: Remote['token'] = (role, name = `${role}-${(names += 1)}`) => tokens.add(name, role)
  return { place, url, port: Number(port), token }
}
