/** The file of the search index, and the journal that it follows. */
import { join } from 'node:path'
import type { ReaderOrder } from './reader-calls.ts'
import { workerUrl } from '../../compose/workers.ts'
import { systemClock } from '../../../adapters/clock.ts'
import type { Config } from '../../../config/settings.ts'
import type { SearchOptions } from '../../../adapters/search/worker/search-client.ts'

type SearchIndexLocation = Pick<Config, 'home' | 'cluster'>

/** What the thread of the index gets, besides its directory. */
export interface SearchOrder {
  /** Absent: it follows the journal of the directory. */
  readonly cluster: ReaderOrder | undefined
}

/** That of a cluster is another file, so that neither is made anew whenever this machine changes between them. */
export function searchIndexPath({ home, cluster }: { readonly home: string; readonly cluster: unknown }): string {
  return join(home, cluster === undefined ? 'search.db' : 'cluster-search.db')
}

export function searchOptions({ home, cluster }: SearchIndexLocation): Omit<SearchOptions, 'report'> {
  const order: SearchOrder = {
    cluster: cluster && { urls: cluster.urls, schema: cluster.schema, unsafe: cluster.unsafe },
  }
  return { directory: home, workerUrl: workerUrl('search-worker'), clock: systemClock, order }
}
