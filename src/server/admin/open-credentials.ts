/** The credentials that a command changes by itself: those of the cluster that its settings name, otherwise those of this machine. */
import type { Config } from '../../config/settings.ts'
import { CredentialFiles, type CredentialStore } from '../../credentials/credential-store.ts'

/** Throws what `use` throws, and CLUSTER_UNREACHABLE. */
export async function withCredentials<Result>(
  { home, cluster }: Config,
  use: (credentials: CredentialStore) => Promise<Result>,
): Promise<Result> {
  if (cluster === undefined) return use(new CredentialFiles(home, Date))
  const { openClusterCredentials } = await import('../cluster/cluster-reading.ts')
  const credentials = await openClusterCredentials(cluster)
  try {
    return await use(credentials)
  } finally {
    await credentials.close()
  }
}
