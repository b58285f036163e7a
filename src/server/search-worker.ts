/** The thread of the search index: the journal on one side, the index on the other, and the core's word for what is said. */
import { join } from 'node:path'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { systemClock } from '../adapters/clock.ts'
import { openJournalSource } from '../adapters/journal/sqlite/source.ts'
import { Index } from '../adapters/search/search-index.ts'
import { serve } from '../adapters/search/serve.ts'
import { decodeEntry } from '../session/entries.ts'
import { sayingsOf } from '../session/sayings.ts'

interface Given {
  readonly directory: string
  /** Only a look: nothing is left beside the journal. */
  readonly quiet: boolean
}

if (parentPort !== null) run(parentPort, workerData as Given)

function run(port: MessagePort, { directory, quiet }: Given): void {
  const source = {
    ...openJournalSource(directory, quiet),
    sayings: (entries: Parameters<typeof decodeEntry>[0][], turn: string | null) =>
      sayingsOf(entries.map(decodeEntry), turn),
  }
  const report = (sentence: string): void => port.postMessage({ kind: 'report', sentence })
  serve(port, new Index({ path: join(directory, 'search.db'), source, clock: systemClock, report }), systemClock)
}
