/** What people may know of a server that has answered. */
import type { Client } from '@modelcontextprotocol/client'
import type { About } from '../../host/mcp-types.ts'
import { isObject } from '../../../checking/json.ts'

/** Features of the protocol that a server may have and Parley does not use yet. */
const UNUSED = ['logging', 'tasks', 'experimental', 'extensions'] as const

export function aboutOf(client: Client, label: string): About {
  const info = client.getServerVersion()
  const era = client.getProtocolEra()
  const protocol = client.getNegotiatedProtocolVersion()
  const has = client.getServerCapabilities() as Readonly<Record<string, unknown>> | undefined
  const unused = UNUSED.filter((feature) => isObject(has?.[feature]))
  return {
    title: info?.title ?? info?.name ?? label,
    speaks: {
      ...(era !== undefined && { era }),
      ...(protocol !== undefined && { protocol }),
      ...(unused.length > 0 && { unused }),
    },
  }
}
