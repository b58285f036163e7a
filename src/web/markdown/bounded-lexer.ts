/** Reads Markdown into tokens in bounded time. What nests too deep, or costs too much, stays plain text. */
import { Lexer, type Token, type TokensList, getDefaults } from 'marked'

const MAX_DEPTH = 30
/** Emphasis and links that never close cost the square of what they stand in. */
const MAX_INLINE = 5_000
/** How often a text may be read again, as each level of a list or quotation does with what is in it. */
const MAX_READINGS = 60

class BoundedLexer extends Lexer {
  #depth = 0
  #work: number

  constructor(characters: number) {
    super({ ...getDefaults(), tokenizer: null })
    this.#work = MAX_READINGS * (characters + 1_000)
  }

  override blockTokens(source: string, tokens?: Token[], clipped?: boolean): Token[]
  override blockTokens(source: string, tokens?: TokensList, clipped?: boolean): TokensList
  override blockTokens(source: string, tokens: Token[] = [], clipped = false): Token[] {
    return this.#within(source, tokens, () => super.blockTokens(source, tokens, clipped))
  }

  override inlineTokens(source: string, tokens: Token[] = []): Token[] {
    if (source.length > MAX_INLINE) return asText(source, tokens)
    return this.#within(source, tokens, () => super.inlineTokens(source, tokens))
  }

  #within(source: string, tokens: Token[], read: () => Token[]): Token[] {
    this.#work -= source.length
    if (this.#depth >= MAX_DEPTH || this.#work < 0) return asText(source, tokens)
    this.#depth += 1
    try {
      return read()
    } finally {
      this.#depth -= 1
    }
  }

  readInline(): void {
    for (const { src, tokens } of this.inlineQueue) this.inlineTokens(src, tokens)
    this.inlineQueue = []
  }
}

function asText(source: string, tokens: Token[]): Token[] {
  tokens.push({ type: 'text', raw: source, text: source })
  return tokens
}

/** Never throws: what the lexer cannot read is one paragraph of text. */
export function tokensOf(text: string): readonly Token[] {
  const lexer = new BoundedLexer(text.length)
  try {
    const tokens = lexer.blockTokens(text)
    lexer.readInline()
    return tokens
  } catch {
    // The lexer guards itself against loops by throwing; the reader gets the text all the same.
    return asText(text, [])
  }
}
