/** The text of a PDF, page by page; a heading without text stands for each page, so that a hit says on which one it is. */
import { getDocumentProxy } from 'unpdf'
import type { Heading, Outline } from '../document/outline.ts'

const PARAGRAPH_END = '\u2029'

/** An item of text as the library reports it. Items of markup have neither property. */
interface TextItem {
  readonly str?: string
  readonly hasEOL?: boolean
}

export async function pdf(bytes: Uint8Array): Promise<Outline> {
  // No code of a document is run. The library's warnings are not shown.
  const document = await getDocumentProxy(new Uint8Array(bytes), { isEvalSupported: false, verbosity: 0 })
  try {
    const headings: Heading[] = []
    let text = ''
    for (let number = 1; number <= document.numPages; number++) {
      const page = await document.getPage(number)
      const { items } = await page.getTextContent()
      const lines = (items as readonly TextItem[]).map(({ str = '', hasEOL }) => (hasEOL === true ? `${str}\n` : str))
      headings.push({ level: 1, title: `Page ${number}`, start: text.length, end: text.length })
      text += `${lines.join('')}\n${PARAGRAPH_END}`
      page.cleanup()
    }
    const title = await titleOf(document)
    return { text, headings, ...(title === undefined ? {} : { title }) }
  } finally {
    await document.destroy()
  }
}

type Document = Awaited<ReturnType<typeof getDocumentProxy>>

async function titleOf(document: Document): Promise<string | undefined> {
  const { info } = await document.getMetadata()
  const title = 'Title' in info ? info.Title : undefined
  return typeof title === 'string' && title.trim() !== '' ? title.trim().slice(0, 300) : undefined
}
