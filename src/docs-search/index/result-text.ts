/** Renders search results as text for models and users. The document server and the builtin tools answer with it. */
import type { Excerpt, PassageHit, PassagePage } from './worker/protocol.ts'

interface Position {
  /** How many passages the pages before this one hold. */
  readonly offset: number
  /** How to ask for the next page; undefined on the last one. */
  readonly next: string | undefined
}

export function passagesText({ total, match, hits, notice }: PassagePage, { offset, next }: Position): string {
  const count = total === 1 ? '1 passage' : `${total} passages`
  const quality = match === 'some' ? ' with some of the words (none has all)' : ''
  const range = `; here are ${offset + 1} to ${offset + hits.length}.`
  const head = hits.length === 0 ? `${count} found.` : `${count} found${quality}${range}`
  const list = hits.map((hit, i) => passageText(hit, offset + i + 1))
  const more = next === undefined ? [] : [`More with ${next}`]
  return [head, ...(notice === undefined ? [] : [notice]), ...list, ...more].join('\n\n')
}

function passageText({ headingPath, title, file, line, uri, snippet }: PassageHit, number: number): string {
  const under = headingPath.length > 0 ? headingPath.join(' > ') : title
  return `${number}. ${file}:${line} (${under})\n${uri}\n${snippet}`
}

export function excerptText({ file, line, text, nextOffset }: Excerpt): string {
  const more = nextOffset === undefined ? [] : [`[more with offset ${nextOffset}]`]
  return [`${file}:${line}`, text, ...more].join('\n\n')
}
