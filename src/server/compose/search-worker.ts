/**
 * The thread of the search index: it joins the journal, the index, and the core's function that turns entries into
 * documents.
 */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { systemClock } from '../../adapters/clock.ts'
import { openJournalSource } from '../../adapters/journal/sqlite/file/source.ts'
import type { SearchSource } from '../../adapters/search/store/source.ts'
import { Index } from '../../adapters/search/store/search-index.ts'
import { serveSearch } from '../../adapters/search/worker/search-loop.ts'
import { decodeEntry } from '../../session/domain/entries.ts'
import { searchDocumentsOf } from '../../session/domain/searchable-texts.ts'
import { sendEvent } from '../../threads/worker-port.ts'
import { openClusterSource } from '../cluster/search/cluster-source.ts'
import { type SearchOrder, searchIndexPath } from '../cluster/search/index-order.ts'

interface SearchWorkerData extends SearchOrder {
  readonly directory: string
  /** Only a look: nothing is left beside the journal. */
  readonly quiet: boolean
}

if (parentPort !== null) run(parentPort, workerData as SearchWorkerData)

function run(port: MessagePort, given: SearchWorkerData): void {
  const source = openSource(given)
  const report = (sentence: string): void => sendEvent(port, sentence)
  const path = searchIndexPath({ home: given.directory, cluster: given.cluster })
  serveSearch(port, new Index({ path, source, clock: systemClock, report }), systemClock)
  port.on('close', () => source.close())
}

function openSource({ directory, quiet, cluster }: SearchWorkerData): SearchSource {
  return {
    ...(cluster === undefined ? openJournalSource(directory, quiet) : openClusterSource(cluster)),
    documents: (entries, turn) => searchDocumentsOf(entries.map(decodeEntry), turn),
  }
}
