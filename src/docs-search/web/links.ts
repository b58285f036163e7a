/** Where the links of a document may lead: to the web, to a mailbox, and to documents and headings here. */
import type { Shown, ShownHeading } from '../index/worker/protocol.ts'
import { documentAddress, NO_QUESTION } from './site/addresses.ts'

/** Headings keep clear of the ids that pages have. */
export function headingId({ slug }: Pick<ShownHeading, 'slug'>): string {
  return `s-${slug}`
}

const MAX_HREF_CHARS = 2_000

/** Undefined for any other link, and for a heading that the document does not have. */
export function linkAddress(shown: Pick<Shown, 'uri' | 'headings' | 'part'>, href: string): string | undefined {
  if (href === '' || href.length > MAX_HREF_CHARS) return undefined
  if (href.startsWith('#')) return headingAddress(shown, fragmentOf(href.slice(1)))
  if (/^[a-z][a-z0-9+.-]*:/i.test(href)) return outsideAddress(href)
  if (/^[/\\]{2}/.test(href) || !URL.canParse(href, shown.uri)) return undefined
  const { protocol, pathname, hash } = new URL(href, shown.uri)
  const collection = /^doc:\/\/[^/]+/.exec(shown.uri)?.[0]
  if (protocol !== 'doc:' || collection === undefined || pathname.length < 2) return undefined
  const slug = fragmentOf(hash.slice(1))
  // A browser takes a backslash for a slash.
  const path = pathname.replaceAll('\\', '%5C')
  return documentAddress(`${collection}${path}`, NO_QUESTION, slug === '' ? {} : { anchor: headingId({ slug }) })
}

function outsideAddress(href: string): string | undefined {
  if (!URL.canParse(href)) return undefined
  const { protocol, href: address } = new URL(href)
  return ['http:', 'https:', 'mailto:'].includes(protocol) ? address : undefined
}

function headingAddress({ uri, headings, part }: Pick<Shown, 'uri' | 'headings' | 'part'>, slug: string) {
  const heading = headings.find((one) => one.slug === slug)
  if (heading === undefined) return undefined
  const anchor = headingId(heading)
  return heading.part === part
    ? `#${encodeURIComponent(anchor)}`
    : documentAddress(uri, NO_QUESTION, { line: heading.line, anchor })
}

function fragmentOf(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // Not encoded as addresses are; it may be the name as it is written.
    return text
  }
}
