/**
 * A long message in Markdown in parts, each of which is a row of its own: only those near the view are in the document, so a word
 * more costs the same however long the message is. A part that is finished stays the same object. Pure.
 */
import { type Block, GrowingMarkdown } from './growing-markdown.ts'

/** A part ends with the first block that makes it this long. */
const PART_CHARS = 1_500

export class MarkdownParts {
  readonly #markdown = new GrowingMarkdown()
  #made: readonly { readonly part: Part; readonly blocks: readonly Block[] }[] = []

  /** The parts of the whole text so far. `isWhole` says that nothing more comes. */
  of(text: string, isWhole: boolean): readonly Part[] {
    this.#markdown.update(text, isWhole)
    const all = this.#markdown.blocks
    const ends = endsOf(all, this.#markdown.settledCount)
    const definitions = isWhole ? definitionsIn(all) : ''
    this.#made = [0, ...ends].map((begin, index) => {
      const blocks = all.slice(begin, ends[index])
      const isLast = index === ends.length
      const known = this.#made[index]
      if (known?.part.isLast === isLast && isSame(known.blocks, blocks)) return known
      return { part: new Part({ index, isLast, definitions }, blocks), blocks }
    })
    return this.#made.map(({ part }) => part)
  }
}

interface Place {
  readonly index: number
  readonly isLast: boolean
  /** What links of this part may refer to. */
  readonly definitions: string
}

export class Part {
  readonly index: number
  readonly isLast: boolean
  readonly raw: string
  readonly #definitions: string
  /** A conversation of hours would hold ten times its text: those that are in no document are read again when they come into it. */
  #blocks: WeakRef<readonly Block[]>

  constructor({ index, isLast, definitions }: Place, blocks: readonly Block[]) {
    this.index = index
    this.isLast = isLast
    this.raw = blocks.map(({ raw }) => raw).join('')
    this.#definitions = definitions
    this.#blocks = new WeakRef(blocks)
  }

  get blocks(): readonly Block[] {
    const known = this.#blocks.deref()
    if (known !== undefined) return known
    const blocks = blocksOf(this.raw, this.#definitions)
    this.#blocks = new WeakRef(blocks)
    return blocks
  }
}

/** The blocks of a part that is read by itself. */
export function blocksOf(raw: string, definitions: string): readonly Block[] {
  const markdown = new GrowingMarkdown()
  markdown.update(definitions === '' ? raw : `${raw}\n\n${definitions}`, true)
  return markdown.blocks.filter(({ at }) => at < raw.length)
}

/** Where all parts but the last end: only behind blocks that stay as they are. */
function endsOf(blocks: readonly Block[], settled: number): readonly number[] {
  const ends: number[] = []
  let chars = 0
  for (let at = 0; at < settled; at += 1) {
    chars += blocks[at]?.raw.length ?? 0
    // Empty lines belong to what stands above them.
    if (chars < PART_CHARS || blocks[at + 1]?.nodes.length === 0) continue
    ends.push(at + 1)
    chars = 0
  }
  return ends
}

function definitionsIn(blocks: readonly Block[]): string {
  return blocks
    .filter(({ raw, nodes }) => nodes.length === 0 && raw.trim() !== '')
    .map(({ raw }) => raw.trim())
    .join('\n')
}

function isSame(one: readonly Block[], other: readonly Block[]): boolean {
  return one.length === other.length && one.every((block, at) => block === other[at])
}
