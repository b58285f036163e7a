/** The text of a Word document with its headings, by way of HTML. */
import { Buffer } from 'node:buffer'
import mammoth from 'mammoth'
import { outlineOfHtml, withLines } from '../formats/html.ts'
import type { Outline } from '../document/outline.ts'
import { checkSize } from './zip.ts'

export async function docx(bytes: Uint8Array): Promise<Outline> {
  checkSize(bytes)
  const options = { convertImage: mammoth.images.imgElement(async () => ({ src: '' })) }
  const { value } = await mammoth.convertToHtml({ buffer: Buffer.from(bytes) }, options)
  return outlineOfHtml(withLines(value))
}
