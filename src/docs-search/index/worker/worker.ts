/** A thread of the document server: who answers, who writes the index, or who reads packed documents. None delays another. */
import { parentPort, workerData } from 'node:worker_threads'
import { EXTRACTOR } from '../extract/extractor.ts'
import type { IndexOptions, WriterOptions } from './protocol.ts'

if (parentPort !== null) await run(parentPort)

async function run(port: NonNullable<typeof parentPort>): Promise<void> {
  if (workerData === EXTRACTOR) {
    const { extractFor } = await import('../extract/run.ts')
    return extractFor(port)
  }
  const place = { port, workerUrl: new URL(import.meta.url) }
  const options = workerData as IndexOptions | WriterOptions
  if ('write' in options) {
    const { keepIndex } = await import('./indexing.ts')
    return keepIndex(place, options.write)
  }
  const { serveIndex } = await import('./serve.ts')
  return serveIndex(place, options)
}
