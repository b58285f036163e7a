/**
 * The thread of the search index: it joins the journal, the index, and the core's function that turns entries into
 * documents.
 */
import { join } from 'node:path'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { systemClock } from '../../adapters/clock.ts'
import { openJournalSource } from '../../adapters/journal/sqlite/file/source.ts'
import type { SearchSource } from '../../adapters/search/store/source.ts'
import { Index } from '../../adapters/search/store/search-index.ts'
import { serveSearch } from '../../adapters/search/worker/search-loop.ts'
import { decodeEntry } from '../../session/domain/entries.ts'
import { searchDocumentsOf } from '../../session/domain/searchable-texts.ts'
import { sendEvent } from '../../threads/worker-port.ts'

interface Given {
  readonly directory: string
  /** Only a look: nothing is left beside the journal. */
  readonly quiet: boolean
}

if (parentPort !== null) run(parentPort, workerData as Given)

function run(port: MessagePort, { directory, quiet }: Given): void {
  const source = openSource(directory, quiet)
  const report = (sentence: string): void => sendEvent(port, sentence)
  serveSearch(port, new Index({ path: join(directory, 'search.db'), source, clock: systemClock, report }), systemClock)
}

function openSource(directory: string, quiet: boolean): SearchSource {
  return {
    ...openJournalSource(directory, quiet),
    documents: (entries, turn) => searchDocumentsOf(entries.map(decodeEntry), turn),
  }
}
