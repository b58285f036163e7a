/** The address of a database: several hosts that are tried in turn, and what may be shown of it. */
import { fail } from '../../../../errors/parley-error.ts'

export interface Address {
  /** One for each host. May hold a password. */
  readonly urls: readonly string[]
  /** Without password and parameters. */
  readonly shown: string
}

/** A password may have an `@` in it: the user part ends at the last one. */
const PARTS = /^(postgres(?:ql)?:\/\/)(?:([^/?#]*)@)?([^@/?#]*)(\/[^@?#]*)?(\?[^#]*)?$/

export function parseAddress(text: string): Address {
  const parts = PARTS.exec(text)
  // Not shown: it may hold a password.
  if (parts === null)
    return fail('CONFIG_INVALID', { key: 'cluster', reason: 'it is not an address like postgres://USER@HOST/DATABASE' })
  const [, scheme = '', user, hosts = '', path = '', parameters = ''] = parts
  const login = user === undefined ? '' : `${user}@`
  const [name] = user?.split(':', 1) ?? []
  return {
    urls: hosts.split(',').map((host) => `${scheme}${login}${host}${path}${parameters}`),
    shown: `${scheme}${name === undefined ? '' : `${name}@`}${hosts}${path}`,
  }
}
