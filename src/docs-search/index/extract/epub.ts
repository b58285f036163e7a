/** The text of an EPUB: its chapters in the order in which they are read. */
import { posix } from 'node:path'
import { outlineOfHtml, withLines } from '../formats/html.ts'
import { readHtml } from '../formats/html-tokens.ts'
import type { Heading, Outline } from '../document/outline.ts'
import { unzipped } from './zip.ts'

export async function epub(bytes: Uint8Array): Promise<Outline> {
  const files = unzipped(bytes, (name) => /(?:\.x?html?|\.opf|container\.xml)$/i.test(name))
  const text = (name: string) => new TextDecoder().decode(files[name])
  const container = text('META-INF/container.xml')
  const [packageFile] = attributesOf(container, 'rootfile').map((attributes) => attributes['full-path'] ?? '')
  if (packageFile === undefined || files[packageFile] === undefined) throw new Error('it names no contents')
  const contents = text(packageFile)
  const chapters = chaptersOf(contents, posix.dirname(packageFile)).filter((name) => files[name] !== undefined)
  const title = outlineOfHtml(/<dc:title[^>]*>([^<]*)</i.exec(contents)?.[1] ?? '').text.trim()
  const joined = chapters.map((name) => outlineOfHtml(withLines(text(name)))).reduce(append, { text: '', headings: [] })
  return title === '' ? joined : { ...joined, title }
}

/** The paths of the chapters, as the spine orders them. */
function chaptersOf(contents: string, base: string): readonly string[] {
  const hrefs = new Map(attributesOf(contents, 'item').map(({ id = '', href = '' }) => [id, href]))
  return attributesOf(contents, 'itemref').map(({ idref = '' }) =>
    posix.join(base, decodeURIComponent(hrefs.get(idref) ?? '')),
  )
}

type Attributes = Readonly<Record<string, string>>

/** The attributes of each element of that name, with any namespace prefix. */
function attributesOf(xml: string, name: string): readonly Attributes[] {
  const found: Attributes[] = []
  readHtml(xml, {
    text: () => undefined,
    close: () => undefined,
    open(tag) {
      if (tag.name.slice(tag.name.indexOf(':') + 1) === name) found.push(Object.fromEntries(tag.attributes))
    },
  })
  return found
}

function append(book: Outline, chapter: Outline): Outline {
  const offset = book.text.length
  const moved: readonly Heading[] = chapter.headings.map((heading) => ({
    ...heading,
    start: heading.start + offset,
    end: heading.end + offset,
  }))
  return { text: `${book.text}${chapter.text}\n\u2029`, headings: [...book.headings, ...moved] }
}
