/** A thread of the document server: the index, or the reader of packed documents. Neither delays an answer of the server. */
import { parentPort, workerData } from 'node:worker_threads'
import { EXTRACTOR } from './extract/extractor.ts'
import type { IndexOptions } from './protocol.ts'

if (parentPort !== null) await run(parentPort)

async function run(port: NonNullable<typeof parentPort>): Promise<void> {
  if (workerData === EXTRACTOR) {
    const { extractFor } = await import('./extract/run.ts')
    return extractFor(port)
  }
  const { serveIndex } = await import('./serve.ts')
  return serveIndex({ port, workerUrl: new URL(import.meta.url) }, workerData as IndexOptions)
}
