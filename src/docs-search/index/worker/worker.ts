/** A thread of the document index: it answers queries, writes the index, or reads packed documents. None delays another. */
import { parentPort, workerData, type MessagePort } from 'node:worker_threads'
import { EXTRACTOR, type ExtractAnswer, type ExtractCalls, type ExtractRequest } from '../extract/extractor.ts'
import type { ServeOptions, WriterOptions } from './protocol.ts'
import { reasonOf } from '../../../errors/parley-error.ts'
import { answerCalls } from '../../../threads/worker-port.ts'
import type { PackedFormat } from '../collect/formats.ts'
import type { Outline } from '../document/outline.ts'

async function run(port: NonNullable<typeof parentPort>): Promise<void> {
  if (workerData === EXTRACTOR) return extractFor(port)
  const options = workerData as ServeOptions | WriterOptions
  const place = { port, workerUrl: new URL('../docs-worker.cjs', import.meta.url), watches: options.watches }
  if ('write' in options) {
    const { keepIndex } = await import('./indexing.ts')
    return keepIndex(place, options.write)
  }
  const { serveIndex } = await import('./answer-calls.ts')
  return serveIndex(place, options.serve)
}

type Reader = (bytes: Uint8Array) => Promise<Outline>

const READERS: { readonly [Kind in PackedFormat]: () => Promise<Reader> } = {
  pdf: async () => (await import('../extract/pdf.ts')).pdf,
  docx: async () => (await import('../extract/docx.ts')).docx,
  epub: async () => (await import('../extract/epub.ts')).epub,
}

/** Reads packed documents. Each library is loaded with the first file that needs it. */
function extractFor(port: MessagePort): void {
  answerCalls<ExtractCalls>(port, { extract })
}

async function extract({ kind, bytes }: ExtractRequest): Promise<ExtractAnswer> {
  try {
    const read = await READERS[kind]()
    return { outline: await read(bytes) }
  } catch (error) {
    return { wrong: `it cannot be read as ${kind.toUpperCase()} (${reasonOf(error)})` }
  }
}

if (parentPort !== null) void run(parentPort)
