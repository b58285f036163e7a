/** What the commands about access do (`_parley/access/*`): here for the server of this machine, otherwise by a request to the remote server. */
import type { Config } from '../../../config/settings.ts'
import type { AccessToken } from '../../../credentials/access-tokens.ts'
import type { Device, PairingGrant } from '../../../credentials/devices.ts'
import type { Role } from '../../../credentials/roles.ts'
import type { Scope } from '../../../credentials/scope.ts'
import type { ShareLink } from '../../../credentials/share-links.ts'
import { type AccessMethod, accessMethods } from '../../../server/admin/access-methods.ts'
import { askAccess } from '../../../server/admin/admin-client.ts'
import { withCredentials } from '../../../server/admin/open-credentials.ts'
import { readPidFile } from '../../../server/daemon/pid-file.ts'
import { remoteOf } from '../../remote/dial-remote.ts'

interface Entries {
  readonly device: Device
  readonly token: AccessToken
  readonly share: ShareLink
}

interface AccessList {
  readonly devices: readonly Device[]
  readonly tokens: readonly AccessToken[]
  readonly shares: readonly ShareLink[]
}

/** Throws what the methods throw and, for a remote server, why it cannot be reached. */
export class AccessDesk {
  readonly #config: Config

  constructor(config: Config) {
    this.#config = config
  }

  async list(): Promise<AccessList> {
    return (await this.#ask('list', {})) as AccessList
  }

  async pair(grant: PairingGrant): Promise<{ readonly code: string; readonly until: string }> {
    return (await this.#ask('pair', grant)) as { readonly code: string; readonly until: string }
  }

  async addToken(asked: { readonly name: string; readonly role: Role; readonly scope: Scope }): Promise<string> {
    return ((await this.#ask('token', asked)) as { readonly token: string }).token
  }

  async share(asked: {
    readonly sessionId: string
    readonly hours: number
    readonly tools: boolean
  }): Promise<{ readonly link: ShareLink; readonly code: string }> {
    const {
      code,
      fragment: _sameAsCode,
      ...link
    } = (await this.#ask('share', asked)) as ShareLink & {
      readonly code: string
      readonly fragment: string
    }
    return { link, code }
  }

  /** Returns what was removed: several entries only when all share links of a session are removed. */
  async remove<K extends keyof Entries>(kind: K, id: string): Promise<readonly Entries[K][]> {
    return ((await this.#ask('remove', { kind, id })) as { readonly removed: readonly Entries[K][] }).removed
  }

  async #ask(method: AccessMethod, params: object): Promise<unknown> {
    const config = this.#config
    if (isHere(config))
      return withCredentials(config, (credentials) => accessMethods(credentials)[`_parley/access/${method}`](params))
    return askAccess({ ...config, ...(await remoteOf(config)) }, method, params)
  }
}

/** False where a server changes the credentials: a remote one, or a node of this machine whose cluster these settings do not name. */
export function isHere({ server, cluster, home }: Config): boolean {
  return server === undefined && (cluster !== undefined || readPidFile(home)?.isNode !== true)
}
