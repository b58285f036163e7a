/** Marks words in the rows that are in the document, without changing the document. */
import { useEffect } from 'preact/hooks'

const NAME = 'found'
/** More of them are no help, and each costs a little. */
const MAX_MARKED = 500

/** Where the words of what is looked for stand in this text, in order. Pure. */
export function rangesIn(text: string, query: string): readonly (readonly [from: number, to: number])[] {
  const wanted = query
    .toLowerCase()
    .split(/[\s"*]+/u)
    .filter((word) => word !== '')
  if (wanted.length === 0) return []
  const lower = text.toLowerCase()
  // Letters whose small form is longer would move all that follows.
  if (lower.length !== text.length) return []
  const all = wanted.flatMap((word) => {
    const found: (readonly [number, number])[] = []
    for (let at = lower.indexOf(word); at !== -1; at = lower.indexOf(word, at + word.length))
      found.push([at, at + word.length])
    return found
  })
  return all.toSorted(([one], [other]) => one - other)
}

/** Marks them now and whenever rows come, go or grow; `marked` is called then. */
export function useFoundWords(query: string, marked: () => void): void {
  useEffect(() => {
    const rows = document.querySelector('.rows')
    if (rows === null || !('highlights' in CSS)) return undefined
    const mark = (): void => {
      CSS.highlights.set(NAME, new Highlight(...wordsBelow(rows, query)))
      marked()
    }
    const observer = new MutationObserver(mark)
    observer.observe(rows, { childList: true, subtree: true, characterData: true })
    mark()
    return () => {
      observer.disconnect()
      CSS.highlights.delete(NAME)
    }
  }, [query])
}

/** The first place of them in a row; undefined when they are nowhere in it. */
export function firstWordIn(row: Element, query: string): DOMRect | undefined {
  return wordsBelow(row, query)[0]?.getBoundingClientRect()
}

function wordsBelow(element: Element, query: string): readonly Range[] {
  const ranges: Range[] = []
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node !== null && ranges.length < MAX_MARKED; node = walker.nextNode()) {
    for (const [from, to] of rangesIn(node.nodeValue ?? '', query)) {
      const range = document.createRange()
      range.setStart(node, from)
      range.setEnd(node, to)
      ranges.push(range)
    }
  }
  return ranges
}
