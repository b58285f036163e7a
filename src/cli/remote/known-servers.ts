/** The remote servers that the user has logged in to: their addresses and tokens, in a file that only the user can read. */
import type { Config } from '../../config/settings.ts'
import { CredentialFile } from '../../credentials/credential-file.ts'
import { fail } from '../../errors/parley-error.ts'

export interface KnownServer {
  readonly name: string
  /** Of the page, with a slash at its end: `https://studio.example/`; or `ssh://studio`, which needs no token. */
  readonly url: string
  readonly token?: string
  /** A file with the certificate that its own is checked against. */
  readonly ca?: string
  /** Headers that a proxy in front of it requires. */
  readonly headers?: Readonly<Record<string, string>>
}

interface ServersFile {
  readonly servers: readonly KnownServer[]
}

const SERVER_NAME = /^[\p{L}\p{N}][\p{L}\p{N}._-]{0,63}$/u

export class KnownServers {
  readonly #file: CredentialFile<ServersFile>

  constructor(home: string) {
    this.#file = new CredentialFile(home, 'servers.json', { empty: { servers: [] }, isContent: isServersFile })
  }

  /** Takes the place of one with the same name. Throws TOKEN_NAME_INVALID and TOKENS_UNUSABLE. */
  add(server: KnownServer): void {
    requireName(server.name)
    this.#file.change(({ servers }) => ({
      content: { servers: [...servers.filter(({ name }) => name !== server.name), server] },
      result: undefined,
    }))
  }

  /** By its name or its address. Throws SERVER_UNKNOWN and TOKENS_UNUSABLE. */
  find(nameOrUrl: string): KnownServer {
    if (isSsh(nameOrUrl)) return { name: new URL(nameOrUrl).hostname, url: nameOrUrl }
    const { servers } = this.#file.read()
    const found =
      servers.find(({ name }) => name === nameOrUrl) ?? servers.find(({ url }) => url === pageAddressOf(nameOrUrl))
    return found ?? fail('SERVER_UNKNOWN', { name: JSON.stringify(nameOrUrl) })
  }
}

/** Throws TOKEN_NAME_INVALID. */
export function requireName(name: string): void {
  if (!SERVER_NAME.test(name)) fail('TOKEN_NAME_INVALID', { name: JSON.stringify(name) })
}

/** The server that the settings or `--server` name. Throws SERVER_UNKNOWN. */
export function serverOf({ home, server = '' }: Config): KnownServer {
  return new KnownServers(home).find(server)
}

export function isSsh(text: string): boolean {
  // A host that begins with a dash would be an option of ssh.
  return /^ssh:\/\/[^-/\s][^\s]*$/u.test(text) && URL.canParse(text)
}

/** The address without query and fragment; undefined if the text is not an http address. */
export function pageAddressOf(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^(?:https?|wss?):$/u.test(url.protocol)) return undefined
  const path = url.pathname.replace(/(?:\/acp)?\/?$/u, '/')
  return `${url.protocol.replace('ws', 'http')}//${url.host}${path}`
}

function isServersFile(value: unknown): value is ServersFile {
  const servers = (value as { readonly servers?: unknown } | null)?.servers
  return Array.isArray(servers) && servers.every(isServer)
}

function isServer(value: unknown): value is KnownServer {
  if (typeof value !== 'object' || value === null) return false
  const { name, url, token, ca } = value as Readonly<Record<string, unknown>>
  const isOptional = (one: unknown): boolean => one === undefined || typeof one === 'string'
  return typeof name === 'string' && typeof url === 'string' && isOptional(token) && isOptional(ca)
}
