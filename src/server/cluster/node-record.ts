/** What the other nodes see of this one. */
import type { ClusterSettings, Config } from '../../config/settings.ts'
import { serverInfo } from '../server-info.ts'

interface Standing {
  readonly address: string
  readonly startedAt: number
  readonly appendMs: { readonly p50: number; readonly p99: number } | undefined
  readonly sessions?: number
  readonly working?: number
  readonly isDraining?: boolean
}

export function recordOf(
  { listen }: Config,
  { node, serves, labels }: ClusterSettings,
  { address, startedAt, appendMs, sessions = 0, working = 0, isDraining = false }: Standing,
) {
  return {
    name: node,
    pid: process.pid,
    version: serverInfo.version,
    listen: listen.map(({ host, port }) => `${host}:${port}`),
    address,
    startedAt,
    sessions,
    working,
    ...(appendMs !== undefined && { appendMs }),
    isDraining,
    ...(serves !== undefined && { serves }),
    labels,
  }
}
