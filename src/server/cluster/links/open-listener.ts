/** Opens the listener for other nodes, from the node's settings and the certificate of its server. */
import { type RemoteAccess, requireSafe } from '../../../config/listen.ts'
import type { ClusterSettings } from '../../../config/settings.ts'
import { readTls } from '../../../edge/http/certificate-files.ts'
import type { Clock } from '../../../ports/clock.ts'
import { NodeListener } from './node-listener.ts'

/** Throws LISTEN_FAILED, and CONFIG_INVALID where messages would go over a network as plain text. */
export async function openListener(
  { listen }: ClusterSettings,
  access: RemoteAccess,
  clock: Clock,
): Promise<NodeListener> {
  requireSafe([listen], { ...access, publicUrl: undefined })
  const { tls } = access
  const pair = tls && readTls({ ...tls, clientCaFile: undefined })
  return NodeListener.open(listen, pair, clock)
}
