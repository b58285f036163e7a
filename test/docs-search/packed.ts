/** Documents that only a library can read, made for tests from what they say. */
import { strToU8, zipSync } from 'fflate'

/** One page for each text, a line for each line. */
export function pdf(pages: readonly string[], title?: string): Uint8Array {
  const objects = ['<</Type/Catalog/Pages 2 0 R>>', '', '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>']
  const kids = pages.map((text) => {
    const lines = text.split('\n').map((line) => `(${line.replaceAll(/[()\\]/g, String.raw`\$&`)}) Tj 0 -14 Td`)
    const stream = `BT /F1 12 Tf 20 780 Td ${lines.join('\n')} ET`
    objects.push(`<</Length ${stream.length}>>\nstream\n${stream}\nendstream`)
    const page = `<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents ${objects.length} 0 R/Resources<</Font<</F1 3 0 R>>>>>>`
    return `${objects.push(page)} 0 R`
  })
  objects[1] = `<</Type/Pages/Kids[${kids.join(' ')}]/Count ${kids.length}>>`
  const info = title === undefined ? '' : `/Info ${objects.push(`<</Title(${title})>>`)} 0 R`
  let file = '%PDF-1.4\n'
  const offsets = objects.map((object, i) => {
    const offset = file.length
    file += `${i + 1} 0 obj\n${object}\nendobj\n`
    return String(offset).padStart(10, '0')
  })
  const table = offsets.map((offset) => `${offset} 00000 n \n`).join('')
  const size = objects.length + 1
  file += `xref\n0 ${size}\n0000000000 65535 f \n${table}trailer\n<</Size ${size}/Root 1 0 R${info}>>\nstartxref\n${file.length}\n%%EOF\n`
  return strToU8(file, true)
}

/** A paragraph for each text; those that begin with `#` are headings. */
export function docx(paragraphs: readonly string[]): Uint8Array {
  const body = paragraphs.map((text) => {
    const [, marks = '', said = ''] = /^(#*) ?(.*)$/s.exec(text) ?? []
    const style = marks === '' ? '' : `<w:pPr><w:pStyle w:val="Heading${marks.length}"/></w:pPr>`
    return `<w:p>${style}<w:r><w:t xml:space="preserve">${said}</w:t></w:r></w:p>`
  })
  return zipped({
    '[Content_Types].xml': `<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`,
    '_rels/.rels': `<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>`,
    'word/document.xml': `<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>${body.join('')}</w:body></w:document>`,
  })
}

/** A chapter for each, with its title; written in another order than they are read in. */
export function epub(title: string, chapters: readonly (readonly [title: string, text: string])[]): Uint8Array {
  const names = chapters.map((_, i) => `chapter ${9 - i}.xhtml`)
  const files = chapters.map(([heading, text], i) => [
    `OPS/${names[i]}`,
    `<html xmlns="http://www.w3.org/1999/xhtml"><body><h1>${heading}</h1><p>${text}</p></body></html>`,
  ])
  const items = names.map(
    (name, i) => `<item id="c${i}" href="${encodeURIComponent(name)}" media-type="application/xhtml+xml"/>`,
  )
  return zipped({
    mimetype: 'application/epub+zip',
    'META-INF/container.xml': `<container><rootfiles><rootfile full-path="OPS/book.opf" media-type="x"/></rootfiles></container>`,
    'OPS/book.opf': `<package><metadata><dc:title>${title}</dc:title></metadata><manifest>${items.toReversed().join('')}</manifest><spine>${names.map((_, i) => `<itemref idref="c${i}"/>`).join('')}</spine></package>`,
    ...Object.fromEntries(files),
  })
}

export function zipped(files: Readonly<Record<string, string | Uint8Array>>): Uint8Array {
  return zipSync(
    Object.fromEntries(
      Object.entries(files).map(([name, content]) => [name, typeof content === 'string' ? strToU8(content) : content]),
    ),
    { level: 1 },
  )
}

/** An archive that says its files unfold to nothing much. */
export function lying(archive: Uint8Array): Uint8Array {
  const copy = archive.slice()
  const view = new DataView(copy.buffer)
  for (let at = 0; at + 4 < copy.length; at++) {
    const mark = view.getUint32(at, true)
    if (mark === 0x0403_4b50) view.setUint32(at + 22, 1_000, true)
    if (mark === 0x0201_4b50) view.setUint32(at + 24, 1_000, true)
  }
  return copy
}
