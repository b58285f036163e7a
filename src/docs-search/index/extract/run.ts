/** The thread that reads packed documents. Each library is loaded with the first file that needs it. */
import type { MessagePort } from 'node:worker_threads'
import { reasonOf } from '../../../errors/parley-error.ts'
import type { Packed } from '../collect/formats.ts'
import type { Outline } from '../document/outline.ts'
import type { ExtractAnswer, ExtractRequest } from './extractor.ts'

type Reader = (bytes: Uint8Array) => Promise<Outline>

const READERS: { readonly [Kind in Packed]: () => Promise<Reader> } = {
  pdf: async () => (await import('./pdf.ts')).pdf,
  docx: async () => (await import('./docx.ts')).docx,
  epub: async () => (await import('./epub.ts')).epub,
}

export function extractFor(port: MessagePort): void {
  port.on('message', (request: ExtractRequest) => {
    void answerTo(request).then((answer) => port.postMessage(answer))
  })
}

async function answerTo({ kind, bytes }: ExtractRequest): Promise<ExtractAnswer> {
  try {
    const read = await READERS[kind]()
    return { outline: await read(bytes) }
  } catch (error) {
    return { wrong: `it cannot be read as ${kind.toUpperCase()} (${reasonOf(error)})` }
  }
}
