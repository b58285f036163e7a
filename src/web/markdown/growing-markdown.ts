/** The blocks of a message that grows: what is settled is read once, and only the end is read again with each chunk. Pure. */
import type { Token } from 'marked'
import { tokensOrText } from '../../markdown/bounded-lexer.ts'
import { type Node, blocks } from './elements.ts'

const LIMITS = { depth: 30, paragraph: 5_000 }

/** A longer message is shown when the reader asks for all of it. */
export const MAX_CHARS = 200_000

/** The same object as long as the block stays as it is, so that its elements are not made again. */
export interface Block {
  /** Where it begins in the text. */
  readonly at: number
  readonly raw: string
  readonly nodes: readonly Node[]
}

export class GrowingMarkdown {
  #text = ''
  #settled: readonly Block[] = []
  #settledEnd = 0
  #tail: readonly Block[] = []
  #isWhole = false

  get blocks(): readonly Block[] {
    return [...this.#settled, ...this.#tail]
  }

  /** How many of the blocks stay as they are, whatever comes. */
  get settledCount(): number {
    return this.#settled.length
  }

  /** The whole text so far. `isWhole` says that nothing more comes: then links to later definitions are found too. */
  update(text: string, isWhole: boolean): void {
    const clean = text.replace(/\r\n?/gu, '\n')
    if (clean === this.#text && isWhole === this.#isWhole) return
    if (!clean.startsWith(this.#text)) this.#restart()
    this.#text = clean
    this.#isWhole = isWhole
    if (isWhole && /^ {0,3}\[[^\]]+\]:/mu.test(clean)) this.#restart(clean)
    this.#readTail()
  }

  #restart(text = ''): void {
    this.#text = text
    this.#settled = []
    this.#settledEnd = 0
    this.#tail = []
  }

  #readTail(): void {
    const tokens = tokensOrText(this.#text.slice(this.#settledEnd), LIMITS)
    const blocks = this.#blocksOf(tokens)
    const count = settledCount(tokens)
    if (count > 0) {
      this.#settled = [...this.#settled, ...blocks.slice(0, count)]
      this.#settledEnd += tokens.slice(0, count).reduce((sum, { raw }) => sum + raw.length, 0)
    }
    this.#tail = blocks.slice(count)
  }

  #blocksOf(tokens: readonly Token[]): readonly Block[] {
    const known = new Map(this.#tail.map((block) => [block.at, block]))
    let at = this.#settledEnd
    return tokens.map((token) => {
      const block = known.get(at)
      const { raw } = token
      const now = block?.raw === raw ? block : { at, raw, nodes: blocks([token]) }
      at += raw.length
      return now
    })
  }
}

/** A block is settled when two more and a blank line follow it. */
function settledCount(tokens: readonly Token[]): number {
  const solid = tokens.flatMap(({ type }, index) => (type === 'space' ? [] : [index]))
  const last = solid.at(-3)
  if (last === undefined) return 0
  const hasBlank = tokens.slice(last, -1).some(({ raw }) => raw.endsWith('\n\n') || /^\n{2}/u.test(raw))
  return hasBlank ? last + 1 : 0
}
