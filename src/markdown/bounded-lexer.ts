/** Reads Markdown into tokens, in bounded time. Markup that is too deep, too long or too much is shown as plain text. */
import { getDefaults, Lexer, type Token, type TokensList } from 'marked'

/** What a reader of Markdown pays for at most. */
export interface MarkdownLimits {
  readonly depth: number
  /** Characters. Emphasis and links that never close cost the square of what they stand in. */
  readonly paragraph: number
}

/** How often all of the text may be read again, as each level of a list or a quotation does with what is in it. */
const MAX_READINGS = 60

class BoundedLexer extends Lexer {
  readonly #limits: MarkdownLimits
  #depth = 0
  #work: number

  constructor(characters: number, limits: MarkdownLimits) {
    super({ ...getDefaults(), tokenizer: null })
    this.#limits = limits
    this.#work = MAX_READINGS * (characters + 1_000)
  }

  override blockTokens(source: string, tokens?: Token[], clipped?: boolean): Token[]
  override blockTokens(source: string, tokens?: TokensList, clipped?: boolean): TokensList
  override blockTokens(source: string, tokens: Token[] = [], clipped = false): Token[] {
    return this.#within(source, tokens, () => super.blockTokens(source, tokens, clipped))
  }

  override inlineTokens(source: string, tokens: Token[] = []): Token[] {
    if (source.length > this.#limits.paragraph) return asText(source, tokens)
    return this.#within(source, tokens, () => super.inlineTokens(source, tokens))
  }

  #within(source: string, tokens: Token[], read: () => Token[]): Token[] {
    this.#work -= source.length
    if (this.#depth >= this.#limits.depth || this.#work < 0) return asText(source, tokens)
    this.#depth += 1
    try {
      return read()
    } finally {
      this.#depth -= 1
    }
  }

  /** After the blocks of all texts, so that a link may refer to what a later text defines. */
  readInline(): void {
    for (const { src, tokens } of this.inlineQueue) this.inlineTokens(src, tokens)
    this.inlineQueue = []
  }
}

function asText(source: string, tokens: Token[]): Token[] {
  tokens.push({ type: 'text', raw: source, text: source })
  return tokens
}

/** The tokens of each text; all of them know the link references of the others. Lines end with a line feed. */
export function markdownTokensOf(texts: readonly string[], limits: MarkdownLimits): readonly (readonly Token[])[] {
  const lexer = new BoundedLexer(
    texts.reduce((sum, text) => sum + text.length, 0),
    limits,
  )
  const blocks = texts.map((text) => lexer.blockTokens(text))
  lexer.readInline()
  return blocks
}

/** Never throws: what the lexer cannot read is one paragraph of text. */
export function tokensOrText(text: string, limits: MarkdownLimits): readonly Token[] {
  try {
    return markdownTokensOf([text], limits).flat()
  } catch {
    // The lexer guards itself against loops by throwing; the reader gets the text all the same.
    return asText(text, [])
  }
}
